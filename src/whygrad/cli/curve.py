"""A learning curve as a picture: returns of the episodes over environment steps."""

from __future__ import annotations

import csv
import itertools
import math
from pathlib import Path
from typing import Any

_SIZE, _LEFT, _RIGHT, _TOP, _BOTTOM = (900, 450), 70, 20, 40, 50
_INK, _PALE, _LINE, _GRID = "#333333", "#b8cfe8", "#1f5fa8", "#e4e4e4"


def draw(table: Path, picture: Path) -> str:
    """Draw the table of ``step,return,loss``; the result is a sentence for the user."""
    points = read(table)
    if len(points) < 2:
        return f"too few episodes for a learning curve; what there is is in {_near(table)}"
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError:
        return f"the learning curve is in {_near(table)}; pip install pillow to get it as a picture"
    image = Image.new("RGB", _SIZE, "white")
    _Plot(ImageDraw.Draw(image), ImageFont.load_default(13), points).draw()
    image.save(picture)
    return f"the learning curve is in {_near(picture)}"


def read(table: Path) -> list[tuple[float, float]]:
    """Steps and returns."""
    with table.open(encoding="utf-8", newline="") as file:
        return [(float(row["step"]), float(row["return"])) for row in csv.DictReader(file)]


def smoothed(points: list[tuple[float, float]], window: int = 20) -> list[tuple[float, float]]:
    """The mean of the last episodes, at each one."""
    sums = [0.0, *itertools.accumulate(value for _, value in points)]
    firsts = [max(0, i - window + 1) for i in range(len(points))]
    return [(points[i][0], (sums[i + 1] - sums[f]) / (i + 1 - f)) for i, f in enumerate(firsts)]


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers between two ends."""
    raw = (high - low) / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= raw)
    return [step * i for i in range(math.ceil(low / step), math.floor(high / step) + 1)]


class _Plot:
    """Axes, dots for episodes, a line for their mean."""

    def __init__(self, pen: Any, font: Any, points: list[tuple[float, float]]) -> None:
        self.pen, self.font, self.points = pen, font, points
        values = [value for _, value in points]
        self.low, self.high = min(values), max(values)
        if self.low == self.high:
            self.low, self.high = self.low - 1, self.high + 1
        self.last = points[-1][0]

    def draw(self) -> None:
        """All of it."""
        for value in ticks(self.low, self.high):
            _, y = self.at(0, value)
            self.pen.line([(_LEFT, y), (_SIZE[0] - _RIGHT, y)], _GRID)
            self.pen.text((_LEFT - 8, y), f"{value:g}", _INK, self.font, anchor="rm")
        for step in ticks(0, self.last):
            x, _ = self.at(step, self.low)
            self.pen.text((x, _SIZE[1] - _BOTTOM + 8), f"{step:,.0f}", _INK, self.font, anchor="mt")
        for x, y in itertools.starmap(self.at, self.points):
            self.pen.ellipse([x - 2, y - 2, x + 2, y + 2], _PALE)
        self.pen.line(list(itertools.starmap(self.at, smoothed(self.points))), _LINE, 2)
        self.pen.text((_LEFT, 12), "return of each episode, and the mean of 20", _INK, self.font)
        self.pen.text((_SIZE[0] / 2, _SIZE[1] - 18), "environment steps", _INK, self.font, anchor="mt")

    def at(self, step: float, value: float) -> tuple[float, float]:
        """Where this is in the picture."""
        wide, tall = _SIZE[0] - _LEFT - _RIGHT, _SIZE[1] - _TOP - _BOTTOM
        up = (value - self.low) / (self.high - self.low)
        return _LEFT + wide * step / self.last, _TOP + tall * (1 - up)


def _near(path: Path) -> str:
    """The path as the user would type it."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
