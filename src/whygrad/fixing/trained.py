"""Who trains whom, before a change and after it."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.fixing.proof import Lines
from whygrad.model import Finding, Reached, Run
from whygrad.model.patch import Trained

_MOST = 6
Key = tuple[str, int, int, str]  # file, line, which of the terms there, network


def trained(finding: Finding, before: Run, after: Run, lines: Lines) -> Iterator[Trained]:
    """The cells that differ, those of the finding's networks first."""
    old, new = _cells(before, Lines({}, {})), _cells(after, lines)
    mine = {*finding.network.split(", ")}
    changed = [key for key in dict.fromkeys([*new, *old]) if _text(old.get(key)) != _text(new.get(key))]
    for key in sorted(changed, key=lambda k: k[3] not in mine)[:_MOST]:
        term = new[key][0] if key in new else old[key][0]
        yield Trained(term, key[1], key[3], _text(old.get(key)), _text(new.get(key)))


def _cells(run: Run, lines: Lines) -> dict[Key, tuple[str, Reached]]:
    """By the line of the term as it was before the change."""
    found: dict[Key, tuple[str, Reached]] = {}
    for loss in run.gradient_map:
        for term in loss.terms:
            site = term.site or loss.loss
            line = lines.before(site.file, site.line) if site else 0
            for cell in term.networks:
                number = 0
                while (key := (site.file if site else "", line, number, cell.network)) in found:
                    number += 1
                found[key] = (term.name, cell)
    return found


def _text(cell: tuple[str, Reached] | None) -> str:
    """As the table has it: a share, a dot for a gradient that no step uses, a dash for none."""
    if cell is None or not cell[1].reached:
        return "-"
    if not cell[1].applied:
        return "·"
    return "yes" if cell[1].share is None else f"{cell[1].share * 100:.0f} %"
