"""Draws the learning curves of the agents' pages: docs/agents/NAME.svg from docs/agents/data/NAME-seedN.csv.

python scripts/curves.py            draw them; tests/docs/test_curves.py compares

The tables are the ``curve.csv`` of ``whygrad train NAME --seed N --out DIR``: a row per episode, with the
columns ``step`` and ``return``. Where an agent writes something else, ``AXES`` says what to draw: for snake
its ``progress.csv``.
"""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path

from whygrad.cli.curve import smoothed, ticks

ROOT = Path(__file__).resolve().parents[1]
AGENTS = ROOT / "docs" / "agents"
MEAN = 20  # episodes
USUAL = ("step", "return", f"return of training episodes, mean of the last {MEAN}")
AXES = {"snake": ("frame", "fruits100", "fruit in a training game, mean of the last 100")}
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 300, 56, 76, 28, 36
COLOURS = ("#1f5fa8", "#c8641e", "#3c8c4b", "#8a4fa0", "#7a7a7a")  # readable on white and on dark grey
POINTS = 150  # per line; more cannot be seen

Points = list[tuple[float, float]]


def tables(folder: Path = AGENTS / "data") -> dict[str, dict[int, Path]]:
    """The tables by agent and seed."""
    found: dict[str, dict[int, Path]] = {}
    for path in sorted(folder.glob("*.csv")):
        name, seed = re.fullmatch(r"(\w+)-seed(\d+)", path.stem).groups()  # type: ignore[union-attr]
        found.setdefault(name, {})[int(seed)] = path
    return found


def read(path: Path, x: str, y: str) -> Points:
    """The two columns of a table; episodes are averaged, what is a mean already is not."""
    with path.open(encoding="utf-8", newline="") as file:
        points = [(float(row[x]), float(row[y])) for row in csv.DictReader(file)]
    return smoothed(points, MEAN) if y == USUAL[1] else points


def draw(name: str, seeds: dict[int, Path]) -> str:
    """The picture: one line per seed."""
    x, y, title = AXES.get(name, USUAL)
    lines = {seed: read(path, x, y) for seed, path in seeds.items()}
    values = [value for points in lines.values() for _, value in points]
    last = max(points[-1][0] for points in lines.values())
    frame = Frame(min(0.0, *values), max(values), last)
    parts = [frame.begin(f"{name}: {title}"), *frame.grid(x)]
    for n, (seed, points) in enumerate(lines.items()):
        parts += frame.line(thinned(points), COLOURS[n % len(COLOURS)], f"seed {seed}", n)
    return "\n".join([*parts, "</svg>"]) + "\n"


def thinned(points: Points) -> Points:
    """As many points as one can see, the last one among them."""
    step = max(1, len(points) // POINTS)
    return [*points[:-1:step], points[-1]]


class Frame:
    """Axes, and where things are between them."""

    def __init__(self, low: float, high: float, last: float) -> None:
        self.low, self.high, self.last = low, high if high > low else low + 1, last

    def at(self, step: float, value: float) -> tuple[float, float]:
        """The place of a point."""
        x = LEFT + (WIDTH - LEFT - RIGHT) * step / self.last
        y = TOP + (HEIGHT - TOP - BOTTOM) * (self.high - value) / (self.high - self.low)
        return round(x, 1), round(y, 1)

    def begin(self, title: str) -> str:
        """Size, title and style."""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
            f'font-family="sans-serif" font-size="12" fill="#888">\n<title>{title}</title>\n'
            f'<text x="{LEFT}" y="16">{title}</text>'
        )

    def grid(self, unit: str) -> list[str]:
        """Round numbers on both axes."""
        parts = []
        for value in ticks(self.low, self.high):
            _, y = self.at(0, value)
            parts.append(f'<path d="M{LEFT} {y}H{WIDTH - RIGHT}" stroke="#888" stroke-opacity=".3"/>')
            parts.append(f'<text x="{LEFT - 6}" y="{y + 4:g}" text-anchor="end">{value:,.0f}</text>')
        for step in ticks(0, self.last):
            x, _ = self.at(step, self.low)
            label = f"{step:,.0f}" + (f" {unit}s" if step == 0 else "")
            parts.append(f'<text x="{x}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{label}</text>')
        return parts

    def line(self, points: Points, colour: str, label: str, n: int) -> list[str]:
        """One seed, with its name beside it."""
        places = " ".join(f"{x:g},{y:g}" for x, y in (self.at(*point) for point in points))
        text = f'<text x="{WIDTH - RIGHT + 10}" y="{TOP + 14 + 16 * n}" fill="{colour}">{label}</text>'
        return [f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="1.8"/>', text]


def pictures() -> dict[Path, str]:
    """Every picture by its file."""
    return {AGENTS / f"{name}.svg": draw(name, seeds) for name, seeds in tables().items()}


def main() -> int:
    """Draw."""
    for path, picture in pictures().items():
        path.write_text(picture, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
