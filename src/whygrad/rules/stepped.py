"""What causes say of the parameters that suffer and of the optimizer that steps on them."""

from __future__ import annotations

from typing import Any

from whygrad.flow.situation import Situation


def stepped(situation: Situation, keys: frozenset[int]) -> dict[str, Any]:
    """The fields of a cause that holds for these parameters from the first update on."""
    optimizer = next((o for o in situation.evidence.optimizers.values() if o.held & keys), None)
    return {
        "subjects": situation.parameters(keys),
        "optimizer": optimizer.name if optimizer else "",
        "first_update": 1,
        "updates": optimizer.steps if optimizer else 0,
    }
