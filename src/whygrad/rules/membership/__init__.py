"""Who belongs to whom: parameters, modules, optimizers, lists of variables."""

from whygrad.rules.membership import (
    frozen,
    not_in_optimizer,
    not_tracked,
    stale_closure,
    stale_optimizer,
    wrong_variables,
)

RULES = (
    not_tracked.RULE,
    not_in_optimizer.RULE,
    stale_optimizer.RULE,
    frozen.RULE,
    wrong_variables.RULE,
    stale_closure.RULE,
)
