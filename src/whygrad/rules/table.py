"""The table of all rules, in the order in which people read about them."""

from __future__ import annotations

from whygrad.rules.missing import (
    detached,
    fake_root,
    frozen,
    loss_independent,
    no_grad_block,
    no_step,
    nondifferentiable_op,
    not_in_optimizer,
    not_tracked,
    numpy_round_trip,
    outside_tape,
    stale_closure,
    stale_optimizer,
    wrong_variables,
)
from whygrad.rules.rule import Rule
from whygrad.rules.unhealthy import (
    exploding,
    non_finite,
    oscillating,
    stalled,
    unused_in_ddp,
    vanishing,
    zero_gradient,
)
from whygrad.rules.wrong import (
    advantage_not_detached,
    backward_twice,
    broadcast_loss,
    cancelled_gradient,
    clip_after_step,
    clip_before_backward,
    clip_to_nothing,
    clip_unused,
    in_place_modified,
    polluted_gradient,
    surrogate_missing,
    target_alias,
    target_in_optimizer,
    target_leak,
    target_never_synced,
    target_reversed,
    terminal_mask,
    value_sign,
    zero_grad_before_step,
    zero_grad_missing,
)

_MODULES = (
    detached,
    no_grad_block,
    numpy_round_trip,
    nondifferentiable_op,
    outside_tape,
    loss_independent,
    not_tracked,
    not_in_optimizer,
    stale_optimizer,
    frozen,
    wrong_variables,
    fake_root,
    stale_closure,
    no_step,
    target_leak,
    target_never_synced,
    target_reversed,
    target_alias,
    target_in_optimizer,
    broadcast_loss,
    zero_grad_missing,
    zero_grad_before_step,
    clip_before_backward,
    clip_after_step,
    clip_to_nothing,
    clip_unused,
    cancelled_gradient,
    polluted_gradient,
    advantage_not_detached,
    backward_twice,
    in_place_modified,
    terminal_mask,
    value_sign,
    surrogate_missing,
    vanishing,
    exploding,
    non_finite,
    zero_gradient,
    oscillating,
    stalled,
    unused_in_ddp,
)

RULES: dict[str, Rule] = {module.RULE.slug: module.RULE for module in _MODULES}

FAMILIES: dict[str, str] = {
    "missing": "a parameter that should learn gets no gradient",
    "wrong": "gradients arrive, but not the ones that the algorithm wants",
    "unhealthy": "gradients arrive and are right, but training suffers",
}


def by_family() -> dict[str, list[Rule]]:
    """The rules of each family that has any."""
    found: dict[str, list[Rule]] = {}
    for rule in RULES.values():
        found.setdefault(rule.page.family, []).append(rule)
    return {family: found[family] for family in FAMILIES if family in found}
