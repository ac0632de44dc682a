"""A run in Markdown, for places that show it: a job summary, TensorBoard's text page."""

from __future__ import annotations

import re
from collections.abc import Sequence

from whygrad.model import Finding, GradientMap, Reached, Run, Severity
from whygrad.reporters import places, who
from whygrad.reporters.summary import headline, healthy, stopped, sufferers

_CODE = re.compile(r"(`[^`]+`)")
_SPECIAL = re.compile(r"([\\`*_{}\[\]#])")
_MOST = 40  # findings that are shown in full


def verdict(run: Run) -> str:
    """The whole run in a sentence or two."""
    if run.clean:
        return prose(healthy(run))
    end = stopped(run)
    return f"**{prose(headline(run))}**" + (f"\n\n{prose(end)}" if end else "")


def findings(run: Run) -> str:
    """Every finding with its line and its fix, the gravest first."""
    order = (Severity.ERROR, Severity.WARNING, Severity.NOTE)
    found = sorted(run.findings, key=lambda f: order.index(f.severity))
    parts = [_finding(finding) for finding in found[:_MOST]]
    if len(found) > _MOST:
        parts.append(f"... and {len(found) - _MOST} more: they are in report.json")
    return "\n\n".join(parts)


def who_trains_whom(maps: Sequence[GradientMap]) -> str:
    """Terms of the losses against networks, as a table; empty if nothing is known."""
    rows = who.rows(maps)
    networks = who.columns(rows)
    if not rows:
        return ""
    head = ["term of the loss", "line", "stepped by", *networks]
    lines = [_row(head), "|---|---|---|" + "--:|" * len(networks)]
    lines += [_row(_cells(row, networks)) for row in rows]
    legend = "Shares are of the network's gradient, by norm. A dot: it gets there, and no step applies it."
    reasons = dict.fromkeys(found.unmeasured for found in maps if found.unmeasured)
    return "\n\n".join(
        ["\n".join(lines), legend, *(f"Shares were not measured: {prose(why)}" for why in reasons)]
    )


def prose(text: str) -> str:
    """A sentence of ours: its `code` stays code, everything else means what it says."""
    parts = _CODE.split(text)
    return "".join(part if part.startswith("`") and n % 2 else _plain(part) for n, part in enumerate(parts))


def _plain(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text).replace("<", "&lt;").replace(">", "&gt;").replace("|", "&#124;")


def _finding(finding: Finding) -> str:
    parts = [f"### {finding.severity}: {prose(finding.title)}"]
    if finding.site is not None:
        function = finding.site.function
        inside = "" if function in ("", "<module>") else f", in `{function}`"
        parts.append(f"`{places.label(finding.site)}`{inside} · rule `{finding.rule}`")
        parts.append(_excerpt(finding))
    else:
        parts.append(f"rule `{finding.rule}`")
    said = (
        ("who", sufferers(finding)),
        ("why", finding.why),
        ("fix", finding.fix),
        ("avoid", finding.avoid),
    )
    parts.append("\n".join(f"- **{name}**: {prose(text)}" for name, text in said if text))
    if finding.patch is not None:
        parts.append(f"Proven: {prose(finding.patch.what)}\n\n{_fenced(finding.patch.diff.rstrip(), 'diff')}")
    return "\n\n".join(part for part in parts if part)


def _excerpt(finding: Finding) -> str:
    lines = places.excerpt(finding, context=2)
    if not lines:
        return ""
    digits = len(str(lines[-1].number))
    marks = [">" if line.culprit else " " for line in lines]
    shown = [f"{m} {line.number:>{digits}}  {line.text}" for m, line in zip(marks, lines, strict=True)]
    text = "\n".join(line.rstrip() for line in shown)
    return _fenced(text, "python")


def _fenced(text: str, language: str) -> str:
    """A block of code, whatever stands in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_plain(cell) for cell in cells) + " |"


def _cells(row: who.Row, networks: Sequence[str]) -> list[str]:
    where = places.label(row.site) if row.site else ""
    shares = (_share(row.cells.get(network)) for network in networks)
    return [row.name, where, ", ".join(row.optimizers), *shares]


def _share(cell: Reached | None) -> str:
    if cell is None or not cell.reached:
        return "-"
    return who.share(cell) if cell.applied else "·"
