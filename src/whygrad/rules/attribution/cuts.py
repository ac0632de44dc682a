"""One cut on one path: which rule it is, which line is to blame, and the chain that shows it."""

from __future__ import annotations

from whygrad.flow.paths import STEPWISE, Path, is_detach
from whygrad.model import Op, Parameter, Site, Step

_SPOKEN = {
    "detach": ".detach()",
    "detach_": ".detach_()",
    "data": ".data",
    "item": ".item()",
    "tolist": ".tolist()",
    "numpy": ".numpy()",
    "__array__": "numpy",
    "__float__": "float()",
    "__int__": "int()",
    "__index__": "int()",
    "long": ".long()",
    "int": ".int()",
    "bool": ".bool()",
}
_PASSING = frozenset(("cpu", "to", "squeeze", "view", "reshape", "flatten", "clone", "float", "contiguous"))


class Verdict:
    """Rule, line and words for the first cut of a path."""

    __slots__ = ("details", "position", "rule", "site")

    def __init__(self, rule: str, site: Site | None, position: int, details: dict[str, str]) -> None:
        self.rule, self.site, self.position, self.details = rule, site, position, details


def verdict(path: Path) -> Verdict:
    """What cut this path, seen from the parameter."""
    position = path.cuts[0]
    op = path.ops[position]
    exit_at = _left_after(path, position)
    if exit_at is not None:
        left = path.ops[exit_at]
        return Verdict("numpy-round-trip", left.site, exit_at, _round_trip(path, exit_at))
    if op.block is not None:
        details = {"block": op.block.kind, "inside": op.site.code if op.site else ""}
        details["inside_line"] = str(op.site.line) if op.site else ""
        return Verdict("no-grad-block", op.block.site, position, details)
    if is_detach(op):
        return Verdict("detached", op.site, position, {"op": spoken(op)})
    if op.fresh:
        return Verdict("numpy-round-trip", op.site, position, {"left": f"torch.{op.name}(tensor)"})
    if _samples(op) or not op.floating or op.name.rstrip("_") in STEPWISE:
        details = {"op": op.api if _samples(op) else spoken(op)}
        if op.carries:
            details["zero"] = "yes"
        return Verdict("nondifferentiable-op", op.site, position, details)
    return Verdict("detached", op.site, position, {"op": spoken(op)})


def _left_after(path: Path, position: int) -> int | None:
    """``.detach().cpu().numpy()``: the detach only serves the leaving, which is the real story."""
    for index in range(position, len(path.ops)):
        op = path.ops[index]
        if op.left:
            return index if op.block is None else None
        if not (is_detach(op) or op.name in _PASSING):
            return None
    return None


def _round_trip(path: Path, exit_at: int) -> dict[str, str]:
    details = {"left": spoken(path.ops[exit_at])}
    if exit_at + 1 < len(path.ops):
        back = path.ops[exit_at + 1]
        details["back"] = f"torch.{back.name}" if back.fresh and back.name != "data" else ""
        details["back_line"] = str(back.site.line) if back.site else ""
    return details


def _samples(op: Op) -> bool:
    return op.api.rpartition(".")[2] in ("sample", "sample_n")


def spoken(op: Op) -> str:
    """An operation as one writes it."""
    return _SPOKEN.get(op.name, op.name.strip("_") if op.name.startswith("__") else op.name)


def chain(path: Path, parameter: Parameter, found: Verdict) -> tuple[Step, ...]:
    """The way from the parameter to the loss, a step per line of the user, the cut marked."""
    steps = [Step(parameter.name, parameter.made[0] if parameter.made else None)]
    cut = path.ops[found.position]
    last: tuple[str, int] | None = None
    for op in path.ops[1:]:
        if op is cut:
            if cut.block is not None and found.rule == "no-grad-block":
                steps.append(Step(cut.block.kind, cut.block.site))
            what = cut.api if _samples(cut) else spoken(cut)
            steps.append(Step(what, cut.site, cut=True))
            last = (cut.site.file, cut.site.line) if cut.site else None
        elif op.site is not None and (op.site.file, op.site.line) != last:
            steps.append(Step(op.site.code or spoken(op), op.site))
            last = (op.site.file, op.site.line)
    return tuple(steps)
