"""Two runs side by side as one HTML file: the verdicts, and a small chart for every variable."""

from __future__ import annotations

import math
from html import escape

from whygrad.model import Series
from whygrad.reporters.compare_terminal import sentence, size, verdict
from whygrad.reporters.comparing import Comparison, Pair, Side
from whygrad.reporters.html_report import asset, head

_WIDE, _TALL = 360, 46
_COLORS = ("var(--error)", "var(--note)")
_MARKS = ("red", "blue")  # the same as classes of report.css


def render(comparison: Comparison) -> str:
    """The whole file; it needs no script."""
    title = f"{comparison.sides[0].name} and {comparison.sides[1].name}"
    rows = "".join(_row(pair) for pair in comparison.pairs)
    alone = "".join(
        f'<p class="soft">Only in {escape(side.name)}: {escape(", ".join(names))}</p>'
        for side, names in zip(comparison.sides, comparison.alone, strict=True)
        if names
    )
    sides = "".join(_side(side, mark) for side, mark in zip(comparison.sides, _MARKS, strict=True))
    legend = "Gradient norm over the updates, on a log scale; both charts of a row share it."
    return "\n".join(
        [
            head(title, (asset("report.css"),)),
            f'<header class="top"><div class="brand">whygrad</div><div class="verdict unknown">'
            f"<h1>{escape(sentence(comparison))}</h1></div></header><main>",
            f'<div class="two">{sides}</div><h2>Variable by variable</h2><p class="soft">{legend}</p>',
            '<div class="scroll"><table><thead><tr><th>variable</th><th>differs at update</th>'
            f"<th>{escape(comparison.sides[0].name)}</th><th>{escape(comparison.sides[1].name)}</th>"
            f"<th>gradient norm</th></tr></thead><tbody>{rows}</tbody></table></div>{alone}</main>",
            "</body></html>\n",
        ]
    )


def _side(side: Side, mark: str) -> str:
    kind = "" if side.run.clean else "error"
    updates = f"{sum(u.count for u in side.run.updates):,} updates"
    return (
        f'<div class="verdict {kind}"><b><span class="{mark}">■</span> {escape(side.name)}</b>'
        f'<p>{escape(verdict(side.run))}</p><p class="soft">{updates}</p></div>'
    )


def _row(pair: Pair) -> str:
    name = escape(pair.first)
    if pair.second != pair.first:
        name += f"<br><span class=soft>{escape(pair.second)}</span>"
    there = pair.difference
    cells = (f"{there.update:,}", size(there.first), size(there.second)) if there else ("", "", "")
    values = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
    return f'<tr><th scope="row"><code>{name}</code></th>{values}<td>{_chart(pair)}</td></tr>'


def _chart(pair: Pair) -> str:
    known = [s for s in pair.norms if s is not None and s.steps]
    sizes = [v for s in known for v in s.mean if v > 0 and math.isfinite(v)]
    if not sizes:
        return ""
    low, high = math.log10(min(sizes)), math.log10(max(sizes))
    last = max(s.steps[-1] for s in known)
    lines = "".join(
        f'<polyline fill="none" stroke="{color}" stroke-width="1.4" points="{points}"/>'
        for series, color in zip(pair.norms, _COLORS, strict=True)
        if series is not None and (points := _points(series, last, low, high))
    )
    label = f"gradient norm of {pair.first} in both runs"
    return f'<svg width="{_WIDE}" height="{_TALL}" role="img" aria-label="{escape(label)}">{lines}</svg>'


def _points(series: Series, last: int, low: float, high: float) -> str:
    found = []
    for step, value in zip(series.steps, series.mean, strict=True):
        if value > 0 and math.isfinite(value):
            x = 2 + (_WIDE - 4) * step / max(last, 1)
            y = _TALL - 4 - (_TALL - 8) * (math.log10(value) - low) / max(high - low, 1e-9)
            found.append(f"{x:.1f},{y:.1f}")
    return " ".join(found)
