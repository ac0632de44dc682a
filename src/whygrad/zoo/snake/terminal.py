"""A game in a terminal: two characters per square, redrawn in place."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TextIO

from whygrad.zoo.snake.frames import ACTIONS, Frame, Game

_RESET, _DIM, _BOLD = "\x1b[0m", "\x1b[2m", "\x1b[1m"
_HEAD, _BODY, _FRUIT = "\x1b[48;5;46m\x1b[38;5;22m", "\x1b[48;5;34m", "\x1b[38;5;196m"
_CHECKERS = ("\x1b[48;5;234m", "\x1b[48;5;235m")


def show(
    game: Game, stream: TextIO, fps: float, color: bool, sleep: Callable[[float], None] = time.sleep
) -> None:
    """Play it back, frame by frame, in one place of the terminal."""
    stream.write("\x1b[?25l")
    try:
        for i, frame in enumerate(game.frames):
            text = picture(game, frame, color)
            stream.write(text)
            stream.flush()
            sleep(1 / fps)
            if i + 1 < len(game.frames):
                stream.write(f"\x1b[{text.count(chr(10))}A\r")
    finally:
        stream.write("\x1b[?25h")
        stream.flush()


def picture(game: Game, frame: Frame, color: bool) -> str:
    """One frame as lines."""
    rows = ["╭" + "──" * game.width + "╮"]
    for y in range(game.height):
        rows.append("│" + "".join(_square(frame, y, x, color) for x in range(game.width)) + "│")
    rows.append("╰" + "──" * game.width + "╯")
    for i, line in enumerate(_side(frame, color)):
        rows[i + 1] += "  " + line
    return "".join(row + ("\x1b[K" if color else "") + "\n" for row in rows)


def _square(frame: Frame, y: int, x: int, color: bool) -> str:
    here = (y, x)
    if here == frame.body[0]:
        return f"{_HEAD}••{_RESET}" if color else "@@"
    if here in frame.body:
        return f"{_BODY}  {_RESET}" if color else "##"
    ground = _CHECKERS[(y + x) % 2] if color else ""
    if here in frame.fruits:
        return f"{ground}{_FRUIT}● {_RESET}" if color else "()"
    return f"{ground}  {_RESET}" if color else "  "


def _side(frame: Frame, color: bool) -> list[str]:
    """Score and what the network expects of each move; at most three lines, for the smallest boards."""
    lines = [f"fruit {frame.eaten}, length {len(frame.body)}"]
    if frame.values:
        best = max(frame.values)
        shown = []
        for name, value in zip(ACTIONS, frame.values, strict=True):
            text = f"{name} {value:.1f}"
            shown.append(
                f"{_BOLD}{text}{_RESET}"
                if color and value == best
                else f"{_DIM}{text}{_RESET}"
                if color
                else text
            )
        lines += ["", "  ".join(shown)]
    return lines
