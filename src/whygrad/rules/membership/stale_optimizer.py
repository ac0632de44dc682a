"""stale-optimizer: the optimizer holds parameters that the model no longer uses."""

import re
from dataclasses import dataclass
from typing import ClassVar

from whygrad.model import Finding, Site
from whygrad.rules import rewrite, words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="stale-optimizer",
    family="missing",
    summary="the optimizer holds parameters that the model no longer uses",
    what="A layer was replaced, or the model was rebuilt or re-loaded, after the optimizer was made.",
    why="An optimizer holds parameters, not names. It goes on stepping the old ones, which nothing uses; the "
    "new ones get gradients that nobody applies. The loss prints as always.",
    bad="""\
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-4)
policy = torch.load("policy.pt", weights_only=False)
loss = compute_loss(policy, batch)
loss.backward()
optimizer.step()  # steps the network that was thrown away""",
    good="""\
policy = torch.load("policy.pt", weights_only=False)
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-4)
loss = compute_loss(policy, batch)
loss.backward()
optimizer.step()""",
    use_instead="Make the optimizer after the last change of the model, or change values instead of objects: "
    "`policy.load_state_dict(...)`, `layer.reset_parameters()`. In TensorFlow also read "
    "`trainable_variables` again.",
    avoid="`optimizer.load_state_dict(...)` restores moments, not which parameters are held.",
    site="where the layer or the model was replaced",
    bad_tensorflow="""\
optimizer = keras.optimizers.Adam(3e-4)
train(policy, optimizer)
policy.head = keras.layers.Dense(2)
train(policy, optimizer)  # Keras 3 stops: unknown variable""",
    good_tensorflow="""\
optimizer = keras.optimizers.Adam(3e-4)
train(policy, optimizer)
policy.head = keras.layers.Dense(2)
optimizer = keras.optimizers.Adam(3e-4)
train(policy, optimizer)""",
)

_LOADED = re.compile(r"=.*\b(torch\.load|load_model|ckpt|checkpoint|loaded)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleOptimizer(Cause):
    """Others have taken the place of the parameters that it steps; where they did is the site."""

    rule: ClassVar[str] = PAGE.slug
    by_network: ClassVar[bool] = True
    made: Site | None = None  # where the optimizer was made


def phrase(cause: StaleOptimizer) -> Finding:
    """Put an optimizer that was left behind into words."""
    who, code, here = words.who(cause), words.source(cause), cause.dialect
    optimizer = cause.optimizer or "the optimizer"
    line = words.code(code) if code else "This line"
    return words.say(
        cause,
        title=f"{who.does('never changes', 'never change')}: {optimizer} still holds the old "
        f"{here.parameters}",
        why=f"{line} puts new {here.parameters} in place after {optimizer} was "
        f"made{words.near(cause.made, cause.site)}. The optimizer goes on stepping the old ones, which "
        "nothing uses.",
        fix=_fix(cause, code, optimizer),
        avoid=here.reused,
    )


def _fix(cause: StaleOptimizer, code: str, optimizer: str) -> str:
    new = rewrite.loaded_into(code, cause.dialect.copied) if _LOADED.search(code) else None
    owner = words.in_scope(words.networks(cause).partition(", ")[0], code) or "model"
    remade = cause.dialect.remade(optimizer, owner)
    return f"write {words.code(new)}; or {remade}" if new else remade


RULE = Rule(PAGE, phrase, StaleOptimizer)
