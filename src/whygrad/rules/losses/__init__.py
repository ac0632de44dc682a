"""What a loss is made of: signs, shapes, scores, advantages."""

from whygrad.rules.losses.judge_axes import mixed_rows
from whygrad.rules.losses.judge_clipped import optimistic
from whygrad.rules.losses.judge_draws import drawn_anew
from whygrad.rules.losses.judge_entropies import entropies
from whygrad.rules.losses.judge_groups import empty_groups
from whygrad.rules.losses.judge_logless import logless
from whygrad.rules.losses.judge_policies import advantages, cancelled
from whygrad.rules.losses.judge_probabilities import probabilities
from whygrad.rules.losses.judge_regressions import climbed
from whygrad.rules.losses.judge_self_targets import self_targets
from whygrad.rules.losses.judge_shapes import broadcast
from whygrad.rules.losses.judge_signs import signs
from whygrad.rules.losses.judge_soft_targets import soft_targets
from whygrad.rules.losses.judge_temperatures import temperatures

QUESTIONS = (
    broadcast,
    advantages,
    cancelled,
    signs,
    optimistic,
    climbed,
    logless,
    mixed_rows,
    probabilities,
    entropies,
    soft_targets,
    temperatures,
    self_targets,
    drawn_anew,
    empty_groups,
)
