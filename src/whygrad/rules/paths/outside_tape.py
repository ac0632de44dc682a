"""outside-tape: TensorFlow's ``GradientTape`` did not see the forward pass."""

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from whygrad.model import Finding, Site
from whygrad.rules import rewrite, words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="outside-tape",
    family="missing",
    summary="TensorFlow: the forward pass or the loss ran outside of the `GradientTape` that is asked",
    what="The forward pass or the loss ran before, after or outside of the `tf.GradientTape` that is asked "
    "for gradients, or while it was paused; or the tape was asked twice without being persistent.",
    why="A tape knows only what happened inside of it. For everything else `tape.gradient` answers `None`, "
    "and `apply_gradients` skips those variables with a warning at most.",
    bad="""\
action = actor(state)
with tf.GradientTape() as tape:
    loss = -tf.reduce_mean(critic([state, action]))
grads = tape.gradient(loss, actor.trainable_variables)  # all None""",
    good="""\
with tf.GradientTape() as tape:
    action = actor(state)
    loss = -tf.reduce_mean(critic([state, action]))
grads = tape.gradient(loss, actor.trainable_variables)""",
    use_instead="Put everything from the first call of the network to the loss into the `with` block, and "
    "`tape.gradient` after it. Ask twice only with `tf.GradientTape(persistent=True)`; use `tape.watch(x)` "
    "for a tensor that is not a variable.",
    avoid="Filtering out the `None` gradients before `apply_gradients`: the warning goes, the variables "
    "still do not learn.",
    site="the operation that ran outside, or the call on the tape",
)

Kind: TypeAlias = Literal["before", "after", "paused", "unwatched", "asked-twice"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideTape(Cause):
    """The tape that is asked for gradients does not know of it."""

    rule: ClassVar[str] = PAGE.slug
    seen: ClassVar[bool] = True
    kind: Kind | None = None
    tape: Site | None = None  # where it begins


def phrase(cause: OutsideTape) -> Finding:
    """Put a forward pass that no tape saw into words."""
    if cause.kind == "asked-twice":
        return _asked_twice(cause)
    if cause.kind == "unwatched":
        return _unwatched(cause)
    by, why, fix = _elsewhere(cause)
    return words.say(cause, title=words.starved(cause, by), why=why, fix=fix, avoid=words.hiding(cause))


def _elsewhere(cause: OutsideTape) -> tuple[str, str, str]:
    """The end of the title, why, and what to do, for what ran at the wrong time."""
    code, who, tape = words.source(cause), words.who(cause), words.near(cause.tape, cause.site)
    line = words.code(code) if code else "the forward pass"
    knows = f"The tape{tape} knows only what ran inside of it"
    block = f"move {line} into the `with tf.GradientTape()` block{tape}"
    if cause.kind == "before":
        return (
            "it ran before the tape started",
            f"{knows}; {line} came before, so to the tape its result is a constant.",
            f"{block}, or open the block before it",
        )
    if cause.kind == "after":
        return (
            "the loss was computed after the tape ended",
            f"{knows}; {line} came after, so it does not know that the loss depends on {who}.",
            f"{block}; `tape.gradient` stays after it",
        )
    if cause.kind == "paused":
        return (
            "computed while the tape was paused",
            f"{line} runs under `tape.stop_recording()`: nothing is recorded, the result is a constant.",
            f"move {line} out of the `with tape.stop_recording():` block",
        )
    return (
        "it ran outside of the tape",
        f"{knows}; for the rest its gradients are `None`.",
        "move the forward pass and the loss into the tape's block",
    )


def _asked_twice(cause: OutsideTape) -> Finding:
    return words.say(
        cause,
        title=f"{words.who(cause).does('gets', 'get')} no gradient: the tape was asked twice",
        why="A tape forgets what it has recorded once `gradient` has been called; this is the second call.",
        fix="write `with tf.GradientTape(persistent=True) as tape:`, and `del tape` after the last call; or "
        "use one tape per loss: `with tf.GradientTape() as tape_1, tf.GradientTape() as tape_2:`",
        avoid="asking once, for the sum of the losses: each network then learns from all of them",
    )


def _unwatched(cause: OutsideTape) -> Finding:
    who, code = words.who(cause), words.source(cause)
    watch = f"`tape.watch({words.in_scope(str(who), code) if not who.several else '...'})`"
    first = f"{watch} as the first line of the `with tf.GradientTape()` block"
    if "watch_accessed_variables" in code:
        new = rewrite.without_keyword(code, "watch_accessed_variables")
        why = f"With `watch_accessed_variables=False` a tape follows only what `tape.watch` names: not {who}."
        fix = f"write {words.code(new)}; or add {watch}" if new else f"add {first}"
    else:
        alone = "A tape follows trainable variables by itself, but a tensor only after `tape.watch`"
        why = f"{alone}: the gradient for {who} is `None`."
        fix = f"write {first}"
    return words.say(
        cause,
        title=f"{who.does('gets', 'get')} no gradient: the tape does not watch {who.it}",
        why=why,
        fix=fix,
        avoid='`unconnected_gradients="zero"`: zeros in place of `None`, and still nothing is learnt',
    )


RULE = Rule(PAGE, phrase, OutsideTape)
