"""What a loss is made of: signs, shapes, scores, advantages."""

from whygrad.rules.losses.judge_policies import advantages, cancelled
from whygrad.rules.losses.judge_shapes import broadcast
from whygrad.rules.losses.judge_signs import signs

QUESTIONS = (broadcast, advantages, cancelled, signs)
