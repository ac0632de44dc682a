"""How much of a network's gradient each term of a loss gives, asked of autograd before the user does.

Nothing of the training changes by it: the graph is kept, gradients are not accumulated, no random number is
drawn. Where somebody's own code would run a second time (hooks, custom functions), nothing is measured.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.autograd import grad
from torch.autograd.graph import GradientEdge

from whygrad.frameworks.shared.nodes import Node, Param
from whygrad.frameworks.shared.shares import Shares, terms_of
from whygrad.frameworks.torch import native, private
from whygrad.frameworks.torch.kinds import KINDS

_MOST_FUNCTIONS = 4000


def measure(root: torch.Tensor, node: Node, reached: dict[int, Param]) -> tuple[Shares, str]:
    """The squared gradient norms of every parameter under each term; or why there are none."""
    chosen, why = terms_of(node, KINDS)
    if not chosen:
        return [], why
    if root.grad_fn is None or _runs_foreign_code(root.grad_fn):
        return [], "hooks or custom functions would have run twice"
    edges = _edges(node, root.grad_fn, chosen)
    tensors = {key: t for key, p in reached.items() if (t := p.ref()) is not None}
    if edges is None or len(edges) != len(chosen) or any(map(private.hooks, tensors.values())):
        return [], "the terms could not be told apart in the graph"
    try:
        return _ask(root, edges, tensors), ""
    except RuntimeError:
        return [], "the graph could not be walked"
    except AttributeError:  # PyTorch 2.4 takes an edge for a tensor
        return [], "this version of PyTorch cannot be asked for the gradient of a single term"


def _ask(root: torch.Tensor, edges: dict[Node, GradientEdge], tensors: dict[int, torch.Tensor]) -> Shares:
    arriving = grad(root, list(edges.values()), retain_graph=True)
    shares: Shares = []
    for (node, edge), arrived in zip(edges.items(), arriving, strict=True):
        found = grad([edge], list(tensors.values()), [arrived], retain_graph=True, allow_unused=True)
        norms = {}
        for key, gradient in zip(tensors, found, strict=True):
            if gradient is not None:
                norms[key] = float(native.item(torch.linalg.vector_norm(native.detach(gradient)))) ** 2
        shares.append((node, norms))
    return shares


def _edges(node: Node, function: Any, chosen: set[Node]) -> dict[Node, GradientEdge] | None:
    """The place of each term in autograd's graph: both graphs are walked side by side."""
    found: dict[Node, GradientEdge] = {}
    todo = [(node, function, 0)]
    while todo:
        here, step, output = todo.pop()
        if here in chosen:
            found[here] = GradientEdge(step, output)
            continue
        carrying = [i for i in here.inputs if i.carries]
        below = [edge for edge in step.next_functions if edge[0] is not None]
        if len(carrying) != len(below):
            return None
        todo.extend((i, *edge) for i, edge in zip(carrying, below, strict=True))
    return found


def _runs_foreign_code(start: Any) -> bool:
    """Is a custom function on the way, or is the graph too large to be walked twice?"""
    seen, todo = {start}, [start]
    while todo:
        function = todo.pop()
        if isinstance(function, torch.autograd.function.BackwardCFunction) or len(seen) > _MOST_FUNCTIONS:
            return True
        for below, _ in function.next_functions:
            if below is not None and below not in seen:
                seen.add(below)
                todo.append(below)
    return False
