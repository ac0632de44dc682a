"""Bootstrap targets and the networks that compute them."""

from whygrad.rules.targets import (
    target_alias,
    target_in_optimizer,
    target_leak,
    target_never_synced,
    target_reversed,
    target_unused,
    terminal_mask,
    unmasked_bootstrap,
)
from whygrad.rules.targets.judge_aliases import aliases
from whygrad.rules.targets.judge_masks import masks
from whygrad.rules.targets.judge_syncs import never_synced, reversed_syncs
from whygrad.rules.targets.judge_targets import in_optimizer, leaks
from whygrad.rules.targets.judge_unmasked import unmasked
from whygrad.rules.targets.judge_unused import unused

RULES = (
    target_leak.RULE,
    target_never_synced.RULE,
    target_reversed.RULE,
    target_alias.RULE,
    target_in_optimizer.RULE,
    terminal_mask.RULE,
    target_unused.RULE,
    unmasked_bootstrap.RULE,
)

QUESTIONS = (leaks, aliases, in_optimizer, never_synced, reversed_syncs, masks, unused, unmasked)
