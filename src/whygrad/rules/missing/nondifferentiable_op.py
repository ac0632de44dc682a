"""nondifferentiable-op: an operation without a useful derivative lies between parameter and loss.

Reads the details ``op`` (``argmax``, ``Normal.sample``, ``.long()``, ...) and ``zero`` (``yes`` when the
framework gives exact zeros instead of nothing).
"""

import re

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
)

REPARAMETERISED = frozenset(
    """
    Beta Cauchy Chi2 ContinuousBernoulli Dirichlet Exponential FisherSnedecor Gamma GeneralizedPareto
    Gumbel HalfCauchy HalfNormal InverseGamma Kumaraswamy Laplace LogNormal LogisticNormal
    LowRankMultivariateNormal MultivariateNormal Normal OneHotCategoricalStraightThrough Pareto
    RelaxedBernoulli RelaxedOneHotCategorical StudentT Uniform Weibull Wishart
    """.split()  # noqa: SIM905
)
_WRAPPERS = frozenset({"Independent", "TransformedDistribution"})
_COMPARISONS = {"gt": ">", "lt": "<", "ge": ">=", "le": "<=", "eq": "==", "ne": "!="}
_STEPS = frozenset({"round", "floor", "ceil", "trunc", "sign", "heaviside", "fix", "floor_divide"})
_CHOICES = frozenset({"argmax", "argmin", "one_hot", "topk", "sort", "argsort", "max", "min", "mode"})
_CASTS = frozenset({"long", "int", "bool", "short", "byte", "to", "type"})
_GUMBEL = "`F.gumbel_softmax(logits, hard=True)`"

_DRAWS = frozenset({"sample", "multinomial", "categorical", "bernoulli", "poisson"})
_COMPARED = {
    "greater": ">",
    "less": "<",
    "greater_equal": ">=",
    "less_equal": "<=",
    "equal": "==",
    "not_equal": "!=",
    **_COMPARISONS,
}
_ORDERS = frozenset({"argsort", "sort", "top_k"})
_ON_TAPE = {"multinomial": "tf.random.categorical", "top_k": "tf.math.top_k", "floor_div": "//"}
_RELAXED = (
    "use the straight-through form, `p + tf.stop_gradient(one_hot - p)` with `p = tf.nn.softmax(logits)`"
)


def phrase(cause: Cause) -> Finding:
    """Put an operation without a derivative into words."""
    if words.on_tensorflow(cause):
        return _on_tensorflow(cause)
    op = cause.details.get("op", "an operation without a derivative")
    why, fix, avoid = _words(op, words.source(cause))
    title = words.starved(cause, f"cut by {_shown(op)}")
    if cause.details.get("zero") == "yes" and not cause.masked:
        title = f"{words.who(cause).does('gets', 'get')} only zeros through {_shown(op)}"
    return words.say(cause, title=title, why=why, fix=fix, avoid=avoid)


def _words(op: str, code: str) -> tuple[str, str, str]:
    """Why, what to write instead, and what not to write."""
    name = op.strip(".()").rpartition(".")[2]
    if name in ("sample", "multinomial", "bernoulli", "normal"):
        return _sampling(op, code)
    if name in _STEPS:
        return _step(name)
    if name in _COMPARISONS:
        return (
            "A comparison is true or false: it does not change a little when the weights do.",
            "use a smooth form, e.g. `torch.sigmoid(k * (x - limit))`; or compare only to choose, "
            "`torch.where(x > limit, a, b)`, and let `a` and `b` carry the gradient",
            "",
        )
    if name in _CASTS:
        return (
            "Integers and booleans carry no gradient.",
            "use the integer only as an index, and let the loss take the floating-point value it came from",
            "casting back with `.float()`: right type, still no gradient",
        )
    return _choice(op)


def _choice(op: str) -> tuple[str, str, str]:
    name = op.strip(".()").rpartition(".")[2]
    what = "gives positions, not values" if name in _CHOICES else "has no derivative"
    return (
        f"`{name}` {what}: a small change of the weights does not change its result.",
        f"for an action that goes into a critic use {_GUMBEL}; for a Q-value use `q.gather(1, a)` or "
        "`q.max(1).values`; for a policy use `-dist.log_prob(a) * advantage`",
        "casting the index to `.float()`: right type, still no gradient" if name in _CHOICES else "",
    )


def _sampling(op: str, code: str) -> tuple[str, str, str]:
    family = op.partition(".")[0]
    if family in REPARAMETERISED or family in _WRAPPERS:
        new = rewrite.renamed_method(code, "sample", "rsample")
        fix = f"write {words.code(new)}" if new else "use `rsample()` instead of `sample()`"
        return (
            "`sample()` draws without gradient: the result is a constant. `rsample()` draws the same numbers "
            "as a function of the distribution's parameters, so that gradient flows back through them.",
            f"{fix}; only where the loss is `log_prob(a) * advantage` is `sample()` right",
            "",
        )
    return (
        "A discrete sample has no derivative: the draw is a constant.",
        "weight its log-probability, `-dist.log_prob(a) * advantage`; or, when it must go into another "
        f"network, use {_GUMBEL}",
        "",
    )


def _step(name: str) -> tuple[str, str, str]:
    return (
        f"The derivative of `{name}` is 0 almost everywhere, so what it passes back is exactly zero.",
        f"use the straight-through form, `y = x + (torch.{name}(x) - x).detach()`, or leave `{name}` out of "
        "the loss",
        "",
    )


def _shown(op: str) -> str:
    if op in _COMPARISONS:
        return f"a comparison ({_COMPARISONS[op]})"
    return op if op.endswith(")") or " " in op else f"{op}()"


def _on_tensorflow(cause: Cause) -> Finding:
    op = cause.details.get("op", "")
    name = op.strip(".()").rpartition(".")[2]
    why, fix, avoid = _tape_words(cause, op, name)
    by = _shown_on_tape(op, name, words.source(cause))
    title = words.starved(cause, f"cut by {by}")
    if cause.details.get("zero") == "yes" and not cause.masked:
        title = f"{words.who(cause).does('gets', 'get')} only zeros through {by}"
    return words.say(cause, title=title, why=why, fix=fix, avoid=avoid or words.no_filtering(cause))


def _tape_words(cause: Cause, op: str, name: str) -> tuple[str, str, str]:
    """Why, what to write instead, and what not to write, in TensorFlow."""
    code = words.source(cause)
    if name == "assign":
        return (*words.assigned_state(cause), "")
    if name in _DRAWS:
        return (
            "A discrete sample has no derivative: to `tape.gradient` the draw is a constant.",
            "weight its log-probability, `-log_prob * advantage`; or, when it must go into another network, "
            f"{_RELAXED}",
            "",
        )
    if name in _STEPS or name == "floor_div":
        function = op if "." in op else f"tf.{name}"
        new = rewrite.straight_through(code, function)
        form = words.code(new, words.LONG) if new else f"`x + tf.stop_gradient({function}(x) - x)`"
        return (
            f"The derivative of `{name}` is 0 almost everywhere, so TensorFlow passes nothing back.",
            f"{'write' if new else 'use'} the straight-through form, {form}; or leave `{name}` out of the "
            "loss",
            "",
        )
    if name in _COMPARED:
        return (
            "A comparison is true or false: it does not change a little when the weights do.",
            "use the value itself or `tf.sigmoid(k * (x - limit))` as a soft mask; to keep a hard one, "
            "`soft + tf.stop_gradient(hard - soft)`",
            "casting the mask with `tf.cast(mask, tf.float32)`: right type, still no gradient",
        )
    if name == "cast" or name in _CASTS:
        return (
            "Integers and booleans carry no gradient.",
            "use the integer only as an index, and let the loss take the floating-point value it came from; "
            "for a hard switch, `soft + tf.stop_gradient(hard - soft)`",
            "casting back with `tf.cast(x, tf.float32)`: right type, still no gradient",
        )
    if name in _ORDERS:
        return (
            f"`{name}` gives positions, not values: a small change of the scores does not change them.",
            "let the scores enter as values: weight what is selected with "
            "`tf.gather(tf.nn.softmax(scores), order, batch_dims=1)`, or use "
            "`tf.math.top_k(scores, k).values`",
            "casting the positions to float: right type, still no gradient",
        )
    what = "gives positions, not values" if name in _CHOICES else "has no derivative"
    return (
        f"`{name or 'This operation'}` {what}: a small change of the weights does not change its result.",
        f"for an action that goes into a critic, {_RELAXED}; for a Q-value use "
        "`tf.gather(q, a, axis=1, batch_dims=1)` or `tf.reduce_max(q, axis=1)`; for a policy, "
        "`-log_prob * advantage`",
        "casting the index to float: right type, still no gradient" if name in _CHOICES else "",
    )


def _shown_on_tape(op: str, name: str, code: str) -> str:
    if name in _COMPARED:
        return f"a comparison ({_COMPARED[name]})"
    if name in _DRAWS and "." not in op:
        family = re.search(r"(\w+)\([^=]*(?:=.*)?\)\.sample\(", code)
        return f"{family[1]}.sample()" if family else _ON_TAPE.get(name, f"{name}()")
    if not op or "." in op or " " in op:
        return op or "an operation without a derivative"
    return _ON_TAPE.get(name, f"tf.{name}")


RULE = Rule(PAGE, phrase)
