"""One cut on one path: which rule it is, which line is to blame, and the chain that shows it."""

from __future__ import annotations

import re

from whygrad.flow.paths import STEPWISE, Path, is_detach
from whygrad.model import Op, Parameter, Site, Step

_SPOKEN = {
    "detach": ".detach()",
    "detach_": ".detach_()",
    "data": ".data",
    "stop_gradient": "tf.stop_gradient",
    "numpy_function": "tf.numpy_function",
    "predict": "model.predict",
    "predict_on_batch": "model.predict_on_batch",
    "assign": "Variable.assign",
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
# What TensorFlow's runtime calls an operation, and what one writes; the rest has one name only.
_WRITTEN = {
    "multinomial": "categorical",
    "top_k": "argsort|sort|top_k",
    "constant": "constant|convert_to_tensor|Variable",
    "floor_div": "floordiv",
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
    if op.block is not None and op.block.tape:
        details = {"kind": op.block.kind, "tape_line": str(op.block.site.line)}
        site = op.block.site if op.block.kind == "unwatched" else _at_home(op, op.block.site)
        return Verdict("outside-tape", site, position, details)
    if op.block is not None:
        details = {"block": op.block.kind, "inside": op.site.code if op.site else ""}
        details["inside_line"] = str(op.site.line) if op.site else ""
        return Verdict("no-grad-block", op.block.site, position, details)
    if is_detach(op):
        return Verdict("detached", op.site, position, {"op": spoken(op)})
    if op.fresh:
        details = {
            "left": f"{maker(op) or 'tf.constant'}(tensor)",
            "many": "yes" if len(op.inputs) > 1 else "",
        }
        return Verdict("numpy-round-trip", op.site, position, details)
    if _samples(op) or not op.floating or op.name.rstrip("_") in STEPWISE or op.name == "assign":
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
        details["back"] = maker(back)
        details["back_line"] = str(back.site.line) if back.site else ""
    return details


def _samples(op: Op) -> bool:
    return op.api.rpartition(".")[2] in ("sample", "sample_n")


def maker(op: Op) -> str:
    """The function that made a fresh tensor; nothing where the framework made it without being told to."""
    if not op.fresh or op.name in ("data", "argument"):
        return ""
    return _in_tensorflow(op) if op.name == "constant" else f"torch.{op.name}"


def _in_tensorflow(op: Op) -> str:
    """The operation as the line writes it, ``tf.argmax`` or ``ops.stop_gradient``; nothing elsewhere."""
    names = _WRITTEN.get(op.name, re.escape(op.name))
    written = rf"(?<![\w.])(?:tf|tensorflow|keras|ops|K)(?:\.\w+)*\.(?:{names})\b"
    found = set(re.findall(written, op.site.code if op.site else ""))
    return found.pop() if len(found) == 1 else ""


def spoken(op: Op) -> str:
    """An operation as one writes it."""
    written = _in_tensorflow(op)
    if written:
        return written
    return _SPOKEN.get(op.name, op.name.strip("_") if op.name.startswith("__") else op.name)


def chain(
    path: Path, parameter: Parameter, found: Verdict, loss: Site | None, home: Site | None
) -> tuple[Step, ...]:
    """The way from the parameter to the loss, a step per line of the user, the cut marked.

    An operation inside a module is shown by the line that called the module, if that line stands in the
    function that differentiates (``home``): that is the code that the reader has in mind.
    """
    steps = [Step(parameter.name, parameter.made[0] if parameter.made else None)]
    cut = path.ops[found.position]
    for op in path.ops[1:]:
        if op is cut:
            if cut.block is not None and found.rule == "no-grad-block":
                _add(steps, Step(cut.block.kind, cut.block.site))
            steps.append(Step(cut.api if _samples(cut) else spoken(cut), cut.site, cut=True))
            if cut.site is not None and _in_library(cut.site):
                own = [site for site in cut.callers if not _in_library(site)]
                steps += [Step(site.code, site) for site in own[:1]]
        else:
            site = _at_home(op, home)
            _add(steps, Step(site.code if site and site.code else spoken(op), site))
    _add(steps, Step(loss.code if loss else "the loss", loss))
    return tuple(steps)


def _in_library(site: Site) -> bool:
    """Installed code: the user cannot change it, so their own line that called it is shown as well."""
    return "site-packages" in site.file or "dist-packages" in site.file


def _at_home(op: Op, home: Site | None) -> Site | None:
    for site in (op.site, *op.callers):
        if site and home and (site.file, site.function) == (home.file, home.function):
            return site
    return op.site


def _add(steps: list[Step], step: Step) -> None:
    """Append a step, unless the last one shows the same line already."""
    last = steps[-1].site
    if step.site is not None and (last is None or (last.file, last.line) != (step.site.file, step.site.line)):
        steps.append(step)
