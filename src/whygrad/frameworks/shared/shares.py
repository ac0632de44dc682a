"""The terms of a loss whose shares of the gradient are asked for."""

from __future__ import annotations

from whygrad.frameworks.shared.budget import BUDGET
from whygrad.frameworks.shared.kinds import Kinds
from whygrad.frameworks.shared.nodes import Node
from whygrad.frameworks.shared.terms import carrying_terms

Shares = list[tuple[Node, dict[int, float]]]  # of each term: squared gradient norms, by parameter


def terms_of(loss: Node, kinds: Kinds, tainted: bool = False) -> tuple[set[Node], str]:
    """The terms through which gradient flows, as far as there is something to tell apart; or why not.

    ``tainted``: only those that come from a parameter, where a framework cannot say what carries gradient.
    """
    chosen = {term for term in carrying_terms(loss, kinds) if term.tainted >= tainted}
    if len(chosen) > BUDGET.terms:
        return set(), f"the loss has more than {BUDGET.terms} terms"
    return (chosen, "") if len(chosen) > 1 else (set(), "")
