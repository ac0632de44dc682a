"""Gradients and weights that are handed from one network to another by hand."""

import ast
import re
from collections.abc import Iterator

from mutants import parts
from mutants.registry import Fault, fault, operator
from mutants.source import Source

TORCH = ("torch",)


def handovers(source: Source) -> Iterator[ast.For]:
    """Loops that put one network's gradients into another."""
    for loop in source.each(ast.For):
        if re.search(r"\._?grad = \w+\.grad", source.of(loop)):
            yield loop


@operator(
    "handover-forgotten", "gradient-handover", "no-step", "not-in-optimizer", "unexplained", frameworks=TORCH
)
def forgotten(source: Source) -> Iterator[Fault]:
    """The shared network is stepped, and never gets a gradient."""
    for loop in handovers(source):
        yield fault(source.delete(loop), also=source.lines(*source.block(loop)))


@operator("handover-piled-up", "gradient-handover", "zero-grad-missing", frameworks=TORCH)
def piled_up(source: Source) -> Iterator[Fault]:
    """The local network's gradients are never cleared, and handed over again and again."""
    for loop in handovers(source):
        for statement in parts.statements(source, "zero_grad"):
            if statement in source.block(loop):
                near = source.lines(loop, *parts.statements(source, "backward"))
                yield fault(source.delete(statement), also=near)


@operator("handover-cleared", "gradient-handover", "zero-grad-before-step", frameworks=TORCH)
def cleared(source: Source) -> Iterator[Fault]:
    """Gradients are cleared between the hand-over and the step."""
    for loop in handovers(source):
        shared = re.search(r"zip\([\w.]+\.parameters\(\), ([\w.]+)\.parameters\(\)\)", source.of(loop))
        if shared:
            yield fault(source.after(loop, f"{shared[1]}.zero_grad()"), also=source.lines(loop))


@operator("worker-never-refreshed", "stale-worker", "target-never-synced", frameworks=TORCH)
def never_refreshed(source: Source) -> Iterator[Fault]:
    """A worker plays with the weights that it began with."""
    if not any(handovers(source)):
        return
    made = [statement for statement, _ in parts.networks(source).values()]
    for statement in parts.statements(source, "load_state_dict"):
        yield fault(source.delete(statement), also=source.lines(*made))
