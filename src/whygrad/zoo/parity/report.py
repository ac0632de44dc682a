"""The words: a table of variables, the verdict, and what the likely mistake is. Pure functions."""

from __future__ import annotations

import json
from collections.abc import Iterator

from whygrad.zoo.parity.case import MOVING
from whygrad.zoo.parity.checking import Result
from whygrad.zoo.parity.comparing import Difference


def render(result: Result) -> str:
    """The whole report as text."""
    return "\n".join([*_head(result), *_table(result), "", *_verdict(result)]) + "\n"


def _head(result: Result) -> Iterator[str]:
    yield f"{result.other} against {result.reference}, batch of {result.batch}"
    for mode, (mine, other) in result.losses.items():
        yield f"  loss, {mode:9}  {mine:.7g} and {other:.7g}"
    yield ""


def _table(result: Result) -> Iterator[str]:
    modes = list(result.losses)
    by_key: dict[tuple[str, str], dict[str, Difference]] = {}
    for row in result.rows:
        by_key.setdefault(row.key, {})[row.mode] = row
    width = max(len(_name(result, key)) for key in by_key)
    yield f"  {'largest (relative) difference':{width}}" + "".join(f"  {mode:>20}" for mode in modes)
    for key, cells in by_key.items():
        shown = "".join(f"  {_cell(cells.get(mode)):>20}" for mode in modes)
        flag = "" if all(row.equal for row in cells.values()) else "  <- differs"
        yield f"  {_name(result, key):{width}}{shown}{flag}"
    if result.adam:
        whose = "your optimizer" if result.adam.own else "Adam"
        flag = "" if result.adam.equal else "  <- differs"
        yield f"  {f'{whose}, weights after 3 steps':{width}}  {result.adam.largest:>20.1e}{flag}"


def _cell(row: Difference | None) -> str:
    return "-" if row is None else f"{row.largest:.1e} ({row.relative:.1e})"


def _name(result: Result, key: tuple[str, str]) -> str:
    if not key[0]:
        return key[1]
    name = result.names.get(key, "/".join(key))
    return f"{name} (its change)" if key[1] in MOVING else name


def _verdict(result: Result) -> Iterator[str]:
    gradients = [row for row in result.rows if row.what == "gradient"]
    worst = max((row.relative for row in gradients), default=0.0)
    if result.equal:
        allowed = f"{result.tolerance:.0e} is allowed"
        yield f"equal: the largest relative difference of a gradient is {worst:.1e} ({allowed})"
        return
    off = {row.key for row in gradients if not row.equal}
    parts = []
    if any(not row.equal for row in result.rows if row.what == "loss"):
        parts.append("the loss")
    if off:
        parts.append(f"the gradients of {len(off)} of {len({row.key for row in gradients})} variables")
    if any(not row.equal for row in result.rows if row.what == "moving"):
        parts.append("the moving statistics")
    if result.adam and not result.adam.equal:
        parts.append("the optimizer's steps")
    yield f"different: {', '.join(parts)}"
    yield from _likely(result)


def _likely(result: Result) -> Iterator[str]:
    wrong_rows = any(not row.equal for row in result.rows)
    if result.explanation:
        for mistake in result.explanation.mistakes:
            yield f"likely: {mistake.what} [{mistake.slug}]"
            yield f"  instead: {mistake.fix}"
        left = f"{result.explanation.left:.1e}"
        yield f"  why: with this in the reference, a relative difference of {left} is left"
    elif wrong_rows:
        yield "no known mistake explains this, alone or with another one"
    if result.adam and not result.adam.equal:
        if result.adam.instead:
            yield f"likely: {result.adam.instead.what} [{result.adam.instead.slug}]"
            yield f"  instead: {result.adam.instead.fix}"
        else:
            yield "the optimizer is none of the known ones"


def as_json(result: Result) -> str:
    """The same for programs."""
    found = (
        [{"slug": m.slug, "what": m.what, "fix": m.fix} for m in result.explanation.mistakes]
        if result.explanation
        else []
    )
    if result.adam and result.adam.instead:
        instead = result.adam.instead
        found.append({"slug": instead.slug, "what": instead.what, "fix": instead.fix})
    variables = [
        {"variable": _name(result, row.key), "mode": row.mode, "what": row.what, "largest": row.largest,
         "relative": row.relative, "equal": row.equal}
        for row in result.rows
    ]  # fmt: skip
    steps = {"largest": result.adam.largest, "equal": result.adam.equal} if result.adam else None
    return json.dumps(
        {"format": 1, "equal": result.equal, "variables": variables, "adam": steps, "likely": found}, indent=1
    )
