"""Bootstrap targets and the networks that compute them."""

from whygrad.rules.targets.judge_aliases import aliases, in_one_place, rebound
from whygrad.rules.targets.judge_inverted import inverted, inverted_arrays
from whygrad.rules.targets.judge_masks import masks
from whygrad.rules.targets.judge_syncs import never_synced, reversed_syncs
from whygrad.rules.targets.judge_targets import in_optimizer, leaks
from whygrad.rules.targets.judge_unmasked import across_ends, carried_on, unmasked
from whygrad.rules.targets.judge_unused import unused

QUESTIONS = (
    leaks,
    aliases,
    in_one_place,
    rebound,
    in_optimizer,
    never_synced,
    reversed_syncs,
    masks,
    inverted,
    inverted_arrays,
    unused,
    unmasked,
    across_ends,
    carried_on,
)
