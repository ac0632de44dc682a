"""numpy-round-trip: the value left the framework and came back as a fresh tensor."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from whygrad.flow.source import lines_reading
from whygrad.model import Finding, Site, source
from whygrad.rules import rewrite, words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="numpy-round-trip",
    family="missing",
    summary="the value left the framework (`.item()`, `.numpy()`, `float()`) and came back as a fresh tensor",
    what="On the way to the loss a tensor became plain numbers, through `.item()`, `.numpy()`, `.tolist()`, "
    "`float()` or `torch.tensor(tensor)`, and was made into a tensor again. In TensorFlow also through "
    "`np.clip` and its like, `model.predict` or `tf.numpy_function`.",
    why="Plain numbers have no history. The tensor that comes back is a new leaf; with "
    "`requires_grad=True` the script even runs, and `backward` ends at that leaf.",
    bad="""\
loss = 0.0
for log_prob, ret in zip(log_probs, returns):
    loss -= log_prob.item() * ret
loss = torch.tensor(loss, requires_grad=True)
loss.backward()  # no error, and the policy never moves""",
    good="""\
loss = 0.0
for log_prob, ret in zip(log_probs, returns):
    loss -= log_prob * ret
loss.backward()""",
    use_instead="Keep it a tensor from the network to the loss. Collect with `torch.stack(values)` instead "
    "of `torch.tensor(values)`, and use `.item()` only for logging and for the environment. In "
    "TensorFlow: `tf.stack`, `tf.clip_by_value`, and `model(x)` instead of `model.predict(x)`.",
    avoid="`torch.tensor(loss, requires_grad=True)` starts a new graph that ends at itself.",
    site="where the value left; where it came back is in the chain",
    bad_tensorflow="""\
with tf.GradientTape() as tape:
    q = tf.gather(q_net.predict(state), action, axis=1, batch_dims=1)
    loss = tf.reduce_mean(tf.square(target - q))
grads = tape.gradient(loss, q_net.trainable_variables)  # all None""",
    good_tensorflow="""\
with tf.GradientTape() as tape:
    q = tf.gather(q_net(state), action, axis=1, batch_dims=1)
    loss = tf.reduce_mean(tf.square(target - q))
grads = tape.gradient(loss, q_net.trainable_variables)""",
    bad_jax="""\
def loss_fn(params):
    value = critic.apply(params, state).mean().item()  # under jit this is an error, without it a cut
    return jnp.square(value - returns.mean())""",
    good_jax="""\
def loss_fn(params):
    value = critic.apply(params, state).mean()
    return jnp.square(value - returns.mean())""",
)

# Became plain numbers; was made a tensor although it was one; ran in a call that gives arrays, as
# ``model.predict`` does; or in one that calls Python on arrays, as ``tf.numpy_function`` does.
# Or it was to become a number while it is traced, and the framework refused.
Way: TypeAlias = Literal["numbers", "copy", "predict", "callback", "refused"]

_LEAVING = ("item", "numpy", "tolist", "detach", "cpu")
_OTHER_ARGUMENTS = frozenset({"concatenate", "array"})  # the same call with another name would be wrong
_MAKER = r"\b(as_tensor|tensor|asarray|from_numpy|FloatTensor|Tensor|constant|convert_to_tensor|Variable)\("
_MADE_AGAIN = re.compile(rf"{_MAKER}.*\.(item|numpy|tolist)\(")  # still a copy without the .item()
_STILL_NUMBERS = re.compile(rf"\b(?:np|numpy)\.|\.(?:item|numpy|tolist)\(|{_MAKER}")


@dataclass(frozen=True, slots=True, kw_only=True)
class NumpyRoundTrip(Cause):
    """Only the numbers went on."""

    rule: ClassVar[str] = PAGE.slug
    seen: ClassVar[bool] = True
    way: Way = "numbers"
    left: str = ""  # the call through which it left, as one writes it
    back: str = ""  # the call that made a tensor of it again, where it is known
    back_at: Site | None = None
    many: bool = False  # it was a list of tensors


def phrase(cause: NumpyRoundTrip) -> Finding:
    """Put a round trip through plain numbers into words."""
    by, why = _SAID[cause.way](cause)
    fix, avoid = _FIXES.get(cause.way, _stay)(cause), cause.dialect.rewrapped
    if cause.way == "callback":
        avoid = (
            f"another wrapper around NumPy code: gradient passes only through {cause.dialect.title} itself"
        )
    return words.say(cause, title=words.starved(cause, by), why=why, fix=fix, avoid=avoid)


def _numbers(cause: NumpyRoundTrip) -> tuple[str, str]:
    """The end of the title, and why: for each way, below."""
    left = cause.left or "plain numbers"
    at = words.near(cause.back_at, cause.site)
    again = f"`{cause.back}`{at}" if cause.back else "the tensor made of them"
    return (
        f"the value leaves {cause.dialect.title} through {left}",
        f"`{left}` gives plain numbers, without history; {again} is a new constant that only looks the same.",
    )


def _copy(cause: NumpyRoundTrip) -> tuple[str, str]:
    by = f"`{cause.left}(tensor)`" if cause.left else "Making a new tensor of it"
    return (
        f"copied by {cause.left}(tensor)" if cause.left else "only its numbers are copied",
        f"{by} copies the numbers of a tensor and none of their history.",
    )


def _predict(cause: NumpyRoundTrip) -> tuple[str, str]:
    method = cause.left.rpartition(".")[2]
    written = re.search(rf"[\w.\[\]]+\.{method}\b", words.source(cause))
    return (
        f"it goes through {written[0] if written else cause.left}",
        f"`{method}` returns a NumPy array: to `{cause.dialect.differentiate}`, a constant.",
    )


def _callback(cause: NumpyRoundTrip) -> tuple[str, str]:
    here = cause.dialect
    return (
        f"the value leaves {here.title} through {cause.left}",
        f"`{cause.left}` runs plain Python on NumPy arrays, which `{here.differentiate}` cannot follow: its "
        "result is a constant.",
    )


def _call(cause: NumpyRoundTrip) -> str:
    new = rewrite.called(words.source(cause), cause.left.rpartition(".")[2])
    return words.write(new) if new else f"call the model, `model(x)`, not `{cause.left}(x)`"


def _apply(cause: NumpyRoundTrip) -> str:
    new = rewrite.applied(words.source(cause), cause.left)
    itself = words.write(new) if new else "call the function itself"
    here = cause.dialect
    return f"{itself}, with {here.title} operations inside; or give it a gradient: `{here.custom_gradient}`"


def _stay(cause: NumpyRoundTrip) -> str:
    """How to remain in the framework."""
    code, stack = words.source(cause), cause.dialect.function("stack")
    numpy = re.search(r"\b(?:np|numpy)\.([\w.]+)\(", code)
    if cause.many and re.search(rf"{re.escape(cause.left)}\([\w.]+\)", code):
        return words.write(code.replace(f"{cause.left}(", f"{stack}("))
    if numpy:
        return f"stay in {cause.dialect.title}: {_instead(cause, code, numpy[0][:-1], numpy[1])}"
    new = _without(cause, code)
    if new and cause.back and f"{cause.back}([" in new:  # the list is a tensor's way out as well
        new = rewrite.renamed_call(new, cause.back, stack, ())
        return words.write(new) if new else _all_the_way(cause, stack)
    if new is None or new == code:
        return _all_the_way(cause, stack)
    name, value = rewrite.given(new)
    between = _in_between(cause, name)
    if between:
        return between
    if cause.back_at is not None and _elsewhere(cause, name):
        here = words.place(cause.back_at, cause.site)
        return f"use `{value}` in the place of `{name}` in {here}; for the other lines it may stay a number"
    if cause.back and rewrite.is_list(value):
        return f"{words.write(new)}; then `{stack}(...)` in the place of `{cause.back}(...)`"
    collect = f" and collect with `{stack}(...)`" if "append(" in code else ""
    drop = f"; then the `{cause.back}(...)` is not needed" if cause.back and not collect else ""
    return f"{words.write(new)}{collect}{drop}{_there(cause)}"


def _in_between(cause: NumpyRoundTrip, name: str) -> str:
    """What to write where numpy works on the value before it comes back: that work must stay."""
    back, site = cause.back_at, cause.site
    if back is None or site is None or back.file != site.file or not name:
        return ""
    lines = [n for n in lines_reading(site.file, site.line, name) if site.line < n < back.line]
    texts = ((n, re.search(r"\b(?:np|numpy)\.([\w.]+)\(", source.line(site.file, n))) for n in lines)
    found = [
        f"`{cause.dialect.function(m[1])}` in the place of `{m[0][:-1]}` (line {n})" for n, m in texts if m
    ]
    title = cause.dialect.title
    return f"stay in {title} from here to line {back.line}: {', '.join(found)}" if found else ""


def _elsewhere(cause: NumpyRoundTrip, name: str) -> bool:
    """Is the number wanted in other lines than the one that needs the tensor?"""
    back = cause.back_at
    if cause.site is None or back is None or not name or back.file != cause.site.file:
        return False
    read = lines_reading(cause.site.file, cause.site.line, name)
    return back.line in read and len(read) > 1


def _all_the_way(cause: NumpyRoundTrip, stack: str) -> str:
    """Where no line can be written out: what must hold."""
    back, helper = cause.back_at, cause.site.function if cause.site else ""
    if back is not None and helper.isidentifier() and f"{helper}(" in back.code:
        here = words.place(back, cause.site)
        return f"keep it a tensor: {here} needs the network's output, not the numbers that `{helper}` returns"
    return f"keep it a tensor all the way to the loss: `{stack}(values)` instead of lists of numbers"


def _there(cause: NumpyRoundTrip) -> str:
    """The line where it comes back may be written for arrays."""
    numpy = re.search(r"\b(?:np|numpy)\.([\w.]+)\(", cause.back_at.code) if cause.back_at else None
    if numpy is None or numpy[1] not in cause.dialect.functions:
        return ""
    return f", and `{numpy[0][:-1]}` there is `{cause.dialect.function(numpy[1])}`"


def _instead(cause: NumpyRoundTrip, code: str, old: str, numpy: str) -> str:
    """The framework's own function in the place of numpy's."""
    name = cause.dialect.function(numpy)
    new = None
    if numpy in cause.dialect.functions and numpy not in _OTHER_ARGUMENTS:
        new = rewrite.renamed_call(code, old, name, ("axis", "keepdims"))
        new = new and (rewrite.without_calls(new, *_LEAVING) or new)
    if new and not _STILL_NUMBERS.search(new):
        return words.write(new)
    return f"`{name}` on the tensor itself instead of `{old}` on its numbers"


def _without(cause: NumpyRoundTrip, code: str) -> str | None:
    """The line without the call through which the value left."""
    if not cause.left.startswith("."):
        return rewrite.unwrapped(code, cause.left.removesuffix("()"))
    return None if _MADE_AGAIN.search(code) else rewrite.without_calls(code, *_LEAVING)


def _refused(cause: NumpyRoundTrip) -> tuple[str, str]:
    here, asked = cause.dialect, cause.left
    wants = {"numpy": "NumPy asks for its numbers", "bool()": "`if` asks for a plain bool"}.get(
        asked,
        f"`{asked}` asks for a plain number" if asked.endswith(")") else "plain Python asks for its value",
    )
    return (
        f"{wants} while {here.title} traces",
        f"While `{here.differentiate}` (or `jax.jit`) runs the function, its values are not there yet: they "
        f"stand for what is computed later. {here.title} stops here; numbers in their place would cut the "
        "gradient.",
    )


def _remain(cause: NumpyRoundTrip) -> str:
    """What to write instead of asking for a value that is not there."""
    if cause.left == "bool()":
        return "choose with `jnp.where(condition, a, b)`, or branch with `jax.lax.cond`"
    if cause.left == "int()":
        return "index with the array itself, or make the number a static argument"
    return (
        _stay(cause) if cause.left == "numpy" else "leave it an array; ask for the number of what comes out"
    )


_SAID: dict[Way, Callable[[NumpyRoundTrip], tuple[str, str]]] = {
    "numbers": _numbers,
    "copy": _copy,
    "predict": _predict,
    "callback": _callback,
    "refused": _refused,
}
_FIXES: dict[Way, Callable[[NumpyRoundTrip], str]] = {
    "predict": _call,
    "callback": _apply,
    "refused": _remain,
}


RULE = Rule(PAGE, phrase, NumpyRoundTrip)
