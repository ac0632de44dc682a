"""nondifferentiable-op: an operation without a useful derivative lies between parameter and loss."""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from whygrad.flow.source import names_above
from whygrad.model import Finding
from whygrad.rules import rewrite, words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="nondifferentiable-op",
    family="missing",
    summary="argmax, sampling, rounding, a comparison or an integer cast between parameter and loss",
    what="Between the parameter and the loss stands an operation that has no useful derivative: `argmax`, "
    "`sample()`, `multinomial`, `one_hot`, `round`, `sign`, a comparison, a cast to integers.",
    why="A small change of the weights does not change its result, so PyTorch passes nothing back (or, for "
    "`round` and `sign`, exact zeros; TensorFlow gives `None` for most of them). "
    "Most often it is `sample()` where `rsample()` was meant: the entropy "
    "term still moves the policy, the critic's advice never arrives.",
    bad="""\
dist = Normal(mean, std)
action = dist.sample()
log_prob = dist.log_prob(action).sum(-1)
policy_loss = (alpha * log_prob - critic(state, action)).mean()""",
    good="""\
dist = Normal(mean, std)
action = dist.rsample()
log_prob = dist.log_prob(action).sum(-1)
policy_loss = (alpha * log_prob - critic(state, action)).mean()""",
    use_instead="Continuous actions: `rsample()`. Discrete actions: weight the log-probability, "
    "`-dist.log_prob(action) * advantage`, or send `F.gumbel_softmax(logits, hard=True)` through the critic. "
    "Rounding: the straight-through form `x + (x.round() - x).detach()`, in "
    "TensorFlow `x + tf.stop_gradient(tf.round(x) - x)`.",
    avoid="Casting the result back with `.float()` gives the right type and still no gradient.",
    site="that operation",
    bad_tensorflow="""\
with tf.GradientTape() as tape:
    logits = actor(state)
    action = tf.one_hot(tf.argmax(logits, axis=-1), n_actions)
    loss = -tf.reduce_mean(critic([state, action]))
grads = tape.gradient(loss, actor.trainable_variables)  # all None""",
    good_tensorflow="""\
with tf.GradientTape() as tape:
    p = tf.nn.softmax(actor(state))
    hard = tf.one_hot(tf.argmax(p, axis=-1), n_actions)
    action = p + tf.stop_gradient(hard - p)
    loss = -tf.reduce_mean(critic([state, action]))
grads = tape.gradient(loss, actor.trainable_variables)""",
    bad_jax="""\
def loss_fn(params):
    action = jnp.round(policy.apply(params, state))
    return model_cost(state, action).mean()""",
    good_jax="""\
def loss_fn(params):
    raw = policy.apply(params, state)
    action = raw + jax.lax.stop_gradient(jnp.round(raw) - raw)
    return model_cost(state, action).mean()""",
)

Said: TypeAlias = tuple[str, str, str]

# The distributions whose sample can be a function of their parameters.
REPARAMETERISED = frozenset(
    """
    Beta Cauchy Chi2 ContinuousBernoulli Dirichlet Exponential FisherSnedecor Gamma GeneralizedPareto
    Gumbel HalfCauchy HalfNormal InverseGamma Kumaraswamy Laplace LogNormal LogisticNormal
    LowRankMultivariateNormal MultivariateNormal Normal OneHotCategoricalStraightThrough Pareto
    RelaxedBernoulli RelaxedOneHotCategorical StudentT Uniform Weibull Wishart
    """.split()  # noqa: SIM905
)
_WRAPPERS = frozenset({"Independent", "TransformedDistribution"})
# Operations by the names that the frameworks have for them.
_DRAWS = frozenset({"sample", "multinomial", "categorical", "bernoulli", "poisson", "normal"})
_STEPS = frozenset(
    {"round", "floor", "ceil", "trunc", "sign", "heaviside", "fix", "floor_divide", "floor_div"}
)
_COMPARISONS = {
    **{"gt": ">", "lt": "<", "ge": ">=", "le": "<=", "eq": "==", "ne": "!="},
    **{
        "greater": ">",
        "less": "<",
        "greater_equal": ">=",
        "less_equal": "<=",
        "equal": "==",
        "not_equal": "!=",
    },
}
_CASTS = frozenset({"long", "int", "bool", "short", "byte", "to", "type", "cast"})
_ORDERS = frozenset({"argsort", "sort", "topk", "top_k"})
_CHOICES = frozenset({"argmax", "argmin", "one_hot", "max", "min", "mode"})


@dataclass(frozen=True, slots=True, kw_only=True)
class NondifferentiableOp(Cause):
    """Gradient ends at an operation, or comes back from it as zeros."""

    rule: ClassVar[str] = PAGE.slug
    seen: ClassVar[bool] = True
    op: str = ""  # as one writes it: ``argmax``, ``Normal.sample``, ``.long()``
    zero: bool = False  # the framework gives exact zeros instead of nothing
    assigned: bool = False  # the value went through a variable that keeps numbers only


def phrase(cause: NondifferentiableOp) -> Finding:
    """Put an operation without a derivative into words."""
    why, fix, avoid = _words(cause)
    by = _shown(cause)
    title = words.starved(cause, f"cut by {by}")
    if cause.zero and not cause.masked:
        title = f"{words.who(cause).does('gets', 'get')} only zeros through {by}"
    avoid = avoid or ("" if cause.zero else words.hiding(cause))
    return words.say(cause, title=title, why=why, fix=fix, avoid=avoid)


def _name(cause: NondifferentiableOp) -> str:
    """The operation alone: ``sample`` of ``Normal.sample``."""
    return cause.op.strip(".()").rpartition(".")[2].rstrip("_")


def _shown(cause: NondifferentiableOp) -> str:
    name = _name(cause)
    if name in _COMPARISONS:
        return f"a comparison ({_COMPARISONS[name]})"
    return (
        cause.dialect.titled(cause.op, words.source(cause))
        if cause.op
        else "an operation without a derivative"
    )


def _words(cause: NondifferentiableOp) -> Said:
    """Why, what to write instead, and what not to write."""
    name = _name(cause)
    if cause.assigned:
        return _assignment(cause)
    for names, say in _SAID:
        if name in names:
            return say(cause, name)
    return _choice(cause, name)


def _assignment(cause: NondifferentiableOp) -> Said:
    held, value = rewrite.assigned_by_call(words.source(cause))
    use = f"the tensor `{value}`, not `{held}`," if held else "the tensor itself, not the variable,"
    call = cause.dialect.differentiate
    return (
        f"`{cause.op}` copies numbers into a variable: what is read from it later has no history, and to "
        f"`{call}` all that {words.who(cause)} did is a constant.",
        f"use {use} on the way to the loss: pass the state in and return it; store it only after `{call}`",
        "",
    )


def _drawn(cause: NondifferentiableOp, name: str) -> Said:
    family, better = cause.op.partition(".")[0], cause.dialect.draws_with_gradient
    if better and (family in REPARAMETERISED or family in _WRAPPERS):
        return _reparameterised(cause, better)
    return (
        f"A discrete sample has no derivative: to `{cause.dialect.differentiate}` the draw is a constant.",
        "weight its log-probability, `-log_prob * advantage`; or, when it must go into another network, use "
        f"{cause.dialect.relaxed}",
        "",
    )


def _reparameterised(cause: NondifferentiableOp, better: str) -> Said:
    new = rewrite.renamed_method(words.source(cause), "sample", better)
    fix = f"write {words.code(new)}" if new else f"use `{better}()` instead of `sample()`"
    return (
        f"`sample()` draws without gradient: the result is a constant. `{better}()` draws the same numbers "
        "as a function of the distribution's parameters, so that gradient flows back through them.",
        f"{fix}; only where the loss is `log_prob(a) * advantage` is `sample()` right",
        "",
    )


def _step(cause: NondifferentiableOp, name: str) -> Said:
    here = cause.dialect
    function = cause.op if "." in cause.op.strip(".") else here.function(name)
    new = rewrite.straight_through(words.source(cause), function, here.stopped)
    form = words.code(new, words.LONG) if new else f"`x + {here.stopped(f'{function}(x) - x')}`"
    back = "what it passes back is exactly zero" if cause.zero else f"{here.title} passes nothing back"
    return (
        f"The derivative of `{name}` is 0 almost everywhere, so {back}.",
        f"{'write' if new else 'use'} the straight-through form, {form}; or leave `{name}` out of the loss",
        "",
    )


def _comparison(cause: NondifferentiableOp, name: str) -> Said:
    here = cause.dialect
    return (
        "A comparison is true or false: it does not change a little when the weights do.",
        f"use a smooth form, e.g. `{here.function('sigmoid')}(k * (x - limit))`; to keep a hard one, "
        f"`soft + {here.stopped('hard - soft')}`; or compare only to choose, "
        f"`{here.function('where')}(x > limit, a, b)`, and let `a` and `b` carry the gradient",
        f"casting the mask with `{here.to_float}`: right type, still no gradient",
    )


def _cast(cause: NondifferentiableOp, name: str) -> Said:
    here = cause.dialect
    return (
        "Integers and booleans carry no gradient.",
        "use the integer only as an index, and let the loss take the floating-point value it came from; "
        f"for a hard switch, `soft + {here.stopped('hard - soft')}`",
        f"casting back with `{here.to_float}`: right type, still no gradient",
    )


def _order(cause: NondifferentiableOp, name: str) -> Said:
    return (
        f"`{name}` gives positions, not values: a small change of the scores does not change them.",
        "let the scores enter as values: weight what is selected with its part of "
        f"`{cause.dialect.function('softmax')}(scores)`, or use the sorted values themselves",
        "casting the positions to float: right type, still no gradient",
    )


def _choice(cause: NondifferentiableOp, name: str) -> Said:
    what = "gives positions, not values" if name in _CHOICES else "has no derivative"
    subject = f"`{name}`" if name else "This operation"
    return (
        f"{subject} {what}: a small change of the weights does not change its result.",
        f"for an action that goes into a critic use {cause.dialect.relaxed}; for a Q-value use "
        f"{_picked(cause)}; for a policy use `-log_prob * advantage`",
        f"casting the index with `{cause.dialect.to_float}`: right type, still no gradient"
        if name in _CHOICES
        else "",
    )


def _picked(cause: NondifferentiableOp) -> str:
    """How a Q-value is picked, in the names that the lines above have."""
    told, code = cause.dialect.picked, words.source(cause)
    known = names_above(cause.site.file, cause.site.line) if cause.site is not None else []
    action = next((name for name in reversed(known) if re.search(r"(?:^|_)act(?:ion)?s?$", name)), "")
    scores = rewrite.owner_of(code, "argmax")
    if action and scores:
        return told.replace("q.", f"{scores}.").replace("(q,", f"({scores},").replace(" a", f" {action}", 1)
    return told


_SAID: tuple[tuple[Collection[str], Callable[[NondifferentiableOp, str], Said]], ...] = (
    (_DRAWS, _drawn),
    (_STEPS, _step),
    (_COMPARISONS, _comparison),
    (_CASTS, _cast),
    (_ORDERS, _order),
)


RULE = Rule(PAGE, phrase, NondifferentiableOp)
