"""A game as an animated GIF, written by hand: six colours and a little LZW need no image library."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from whygrad.zoo.snake.frames import Frame, Game

_GROUND, _GROUND2, _BODY, _HEAD, _FRUIT, _EYE = range(6)
_PALETTE = ("1c1f26", "22262f", "2f9e44", "69db7c", "ff6b6b", "10331a", "000000", "000000")
_BITS = 3


def render(game: Game, cell: int = 20, fps: float = 12) -> bytes:
    """The file; it starts again and again, and rests on the last frame."""
    width, height = game.width * cell, game.height * cell
    parts = [b"GIF89a", struct.pack("<HHBBB", width, height, 0xF0 | (_BITS - 1), 0, 0)]
    parts.append(bytes.fromhex("".join(_PALETTE)))
    parts.append(b"\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00")
    for i, frame in enumerate(game.frames):
        delay = 200 if i + 1 == len(game.frames) else max(2, round(100 / fps))
        parts.append(b"\x21\xf9\x04\x04" + struct.pack("<H", delay) + b"\x00\x00")
        parts.append(b"\x2c" + struct.pack("<HHHHB", 0, 0, width, height, 0))
        parts.append(bytes([_BITS]) + _blocks(lzw(pixels(game, frame, cell), _BITS)))
    return b"".join([*parts, b"\x3b"])


def pixels(game: Game, frame: Frame, cell: int) -> bytes:
    """The picture, row by row, one colour number per byte."""
    body, rows = set(frame.body), []
    for y in range(game.height):
        line = [_colour((y, x), frame, body) for x in range(game.width)]
        plain = b"".join(bytes([ground if piece == _FRUIT else piece]) * cell for piece, ground in line)
        for r in range(cell):
            row = bytearray(plain)
            for x, (piece, ground) in enumerate(line):
                _decorate(row, x * cell, r, cell, piece, ground)
            rows.append(bytes(row))
    return b"".join(rows)


def _colour(here: tuple[int, int], frame: Frame, body: set[tuple[int, int]]) -> tuple[int, int]:
    ground = (_GROUND, _GROUND2)[sum(here) % 2]
    if here == frame.body[0]:
        return _HEAD, ground
    if here in body:
        return _BODY, ground
    return (_FRUIT if here in frame.fruits else ground), ground


def _decorate(row: bytearray, start: int, r: int, cell: int, piece: int, ground: int) -> None:
    """Round fruit, a rim around the snake's squares, eyes."""
    if piece == _FRUIT:
        half = cell / 2
        reach = (0.36 * cell) ** 2 - (r + 0.5 - half) ** 2
        if reach > 0:
            n = int(reach**0.5)
            row[start + int(half) - n : start + int(half) + n] = bytes([_FRUIT]) * (2 * n)
    elif piece in (_BODY, _HEAD):
        if r in (0, cell - 1):
            row[start : start + cell] = bytes([ground]) * cell
        row[start] = row[start + cell - 1] = ground
        if piece == _HEAD and abs(r - cell // 2) <= cell // 10:
            for at in (cell * 3 // 10, cell * 6 // 10):
                row[start + at : start + at + max(1, cell // 8)] = bytes([_EYE]) * max(1, cell // 8)


def lzw(data: bytes, bits: int) -> bytes:
    """GIF's compression."""
    clear, stop = 1 << bits, (1 << bits) + 1
    packed, held, filled = bytearray(), 0, 0
    for code, size in _codes(data, clear, stop):
        held |= code << filled
        filled += size
        while filled >= 8:
            packed.append(held & 255)
            held, filled = held >> 8, filled - 8
    if filled:
        packed.append(held & 255)
    return bytes(packed)


def _codes(data: bytes, clear: int, stop: int) -> Iterator[tuple[int, int]]:
    """Each code with the number of bits that it takes."""
    size = clear.bit_length()
    table: dict[tuple[int, int], int] = {}
    yield clear, size
    prefix = data[0]
    for value in data[1:]:
        if (prefix, value) in table:
            prefix = table[prefix, value]
            continue
        yield prefix, size
        fresh = stop + 1 + len(table)
        table[prefix, value] = fresh
        if fresh == 1 << size:
            size += 1
        if fresh == 4095:
            yield clear, size if size <= 12 else 12
            table, size = {}, clear.bit_length()
        prefix = value
    yield prefix, size
    fresh = stop + 1 + len(table)
    yield stop, size + (fresh == 1 << size and size < 12)


def _blocks(data: bytes) -> bytes:
    pieces = [data[i : i + 255] for i in range(0, len(data), 255)]
    return b"".join(bytes([len(piece)]) + piece for piece in pieces) + b"\x00"
