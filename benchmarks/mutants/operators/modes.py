"""Train and eval mode."""

import ast
import re
from collections.abc import Iterator

from mutants import parts
from mutants.registry import Fault, fault, operator
from mutants.source import Source, dotted, last

MOODY = r"BatchNorm|Dropout|BatchNormalization"


@operator("left-in-eval", "wrong-mode", frameworks=("torch",))
def left_in_eval(source: Source) -> Iterator[Fault]:
    """Switched to eval for acting, and never back."""
    for statement in parts.statements(source, "train"):
        call = statement.value
        if (
            isinstance(statement, ast.Expr)
            and not call.args
            and dotted(call.func.value) in parts.networks(source)
        ):
            evals = source.lines(*parts.statements(source, "eval"))
            yield fault(source.delete(statement), also=evals)


@operator("trained-in-eval", "wrong-mode", frameworks=("torch",))
def trained_in_eval(source: Source) -> Iterator[Fault]:
    """Put into eval mode right after it was made."""
    if not re.search(MOODY, source.text):
        return
    for name, (statement, call) in parts.networks(source).items():
        made = [c for c in parts.network_classes(source) if c.name == last(call.func)]
        if made and re.search(MOODY, source.of(made[0])) and not parts.is_target(name):
            yield fault(source.after(statement, f"{name}.eval()"))


@operator("acts-in-train-mode", "wrong-mode", frameworks=("torch",))
def acts_in_train_mode(source: Source) -> Iterator[Fault]:
    """The call that switches to eval is missing."""
    for statement in parts.statements(source, "eval"):
        name = dotted(statement.value.func.value)
        calls = [c for c in source.each(ast.Call) if dotted(c.func) == name]
        yield fault(source.delete(statement), also=source.lines(*calls), own=True)
