"""The bytes of event files: records, checksums, and the few fields of protocol buffers that are needed."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Sequence

HEADER = 12  # length, and its checksum
_WALL_AT, _STEP_AT = 13, 22
_HEAD = b"\x09" + bytes(8) + b"\x10" + bytes(6)  # an event's time and step, to be filled in


def _table() -> tuple[int, ...]:
    table = []
    for i in range(256):
        for _ in range(8):
            i = (i >> 1) ^ (0x82F63B78 if i & 1 else 0)
        table.append(i)
    return tuple(table)


_TABLE = _table()


def crc32c(data: bytes) -> int:
    """The checksum of event files (Castagnoli)."""
    crc = 0xFFFFFFFF
    for byte in bytes(data):
        crc = (crc >> 8) ^ _TABLE[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


def masked(crc: int) -> int:
    """As it is stored: a checksum of something with checksums in it would be weak."""
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def varint(value: int) -> bytes:
    """A number in groups of seven bits."""
    result = bytearray()
    while value >= 128:
        result.append(value & 127 | 128)
        value >>= 7
    return bytes((*result, value))


def wide_varint(value: int, size: int) -> bytes:
    """The same in a fixed number of bytes: its place does not move."""
    groups = [value >> 7 * i & 127 for i in range(size)]
    return bytes([*(group | 128 for group in groups[:-1]), groups[-1]])


def field(number: int, content: bytes) -> bytes:
    """A field that holds bytes, text or a message."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def event(summary: bytes) -> bytearray:
    """A record around a summary: time, step and checksums are still to be filled in."""
    payload = _HEAD + b"\x2a" + wide_varint(len(summary), 5) + summary
    return bytearray(HEADER) + payload + bytes(4)


def sealed(record: bytearray, wall: float, step: int) -> bytes:
    """The finished record."""
    record[_WALL_AT : _WALL_AT + 8] = struct.pack("<d", wall)
    record[_STEP_AT : _STEP_AT + 6] = wide_varint(step, 6)
    return framed(bytes(record[HEADER:-4]))


def framed(payload: bytes) -> bytes:
    """A record: length, checksum, payload, checksum."""
    length = struct.pack("<Q", len(payload))
    return (
        length
        + struct.pack("<I", masked(crc32c(length)))
        + payload
        + struct.pack("<I", masked(crc32c(payload)))
    )


def scalars(tags: Sequence[str]) -> tuple[bytes, list[int]]:
    """A record with one number per tag, and the places of the numbers; an empty tag has none."""
    summary, places = bytearray(), []
    for tag in tags:
        if tag:
            value = field(1, _bytes(tag)) + b"\x15" + bytes(4)
            summary += field(1, value)
        places.append(len(summary) - 4 if tag else -1)
    record = event(bytes(summary))
    before = len(record) - 4 - len(summary)
    return bytes(record), [place + before if place >= 0 else -1 for place in places]


def histogram(tag: bytes, row: Sequence[float], bins: Sequence[int]) -> bytes:
    """One value of a summary: how often each exponent occurs; nothing where there was no tensor."""
    found = buckets(bins)
    if not found or math.isnan(row[2]):
        return b""
    number = sum(count for _, count in found)
    head = (row[2], row[3], number, row[0] * number, row[4] * row[4])
    content = b"".join(
        bytes((key,)) + struct.pack("<d", x) for key, x in zip(b"\x09\x11\x19\x21\x29", head, strict=True)
    )
    content += field(6, struct.pack(f"<{len(found)}d", *(limit for limit, _ in found)))
    content += field(7, struct.pack(f"<{len(found)}d", *(count for _, count in found)))
    return field(1, field(1, tag) + field(5, content))


def text(tag: str, markdown: str) -> bytes:
    """One value of a summary: a string tensor that TensorBoard's text plugin shows as Markdown."""
    plugin = field(1, field(1, b"text"))
    tensor = b"\x08\x07" + field(2, b"") + field(8, _bytes(markdown))  # DT_STRING, a scalar
    return field(1, field(1, _bytes(tag)) + field(9, plugin) + field(8, tensor))


def _bytes(text: str) -> bytes:
    """What is no text, such as half a file name, is written out."""
    return text.encode("utf-8", "backslashreplace")


def buckets(bins: Sequence[int]) -> list[tuple[float, int]]:
    """The limits and counts of a histogram."""
    return list(_buckets(bins))


def _buckets(bins: Sequence[int]) -> Iterator[tuple[float, int]]:
    """Limits and counts, from the most negative up; an empty bucket marks where a gap ends."""
    last = None
    for order, (left, right, count) in enumerate(_ordered(bins)):
        if not count:
            continue
        if last is not None and last != order - 1:
            yield left, 0
        yield right, count
        last = order


def _ordered(bins: Sequence[int]) -> Iterator[tuple[float, float, int]]:
    for exponent in range(254, 0, -1):
        yield -math.ldexp(1, exponent - 126), -math.ldexp(1, exponent - 127), bins[256 + exponent]
    yield -math.ldexp(1, -126), math.ldexp(1, -126), bins[0] + bins[256]
    for exponent in range(1, 255):
        yield math.ldexp(1, exponent - 127), math.ldexp(1, exponent - 126), bins[exponent]
