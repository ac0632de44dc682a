"""wrong-variables: gradients are asked for, or applied to, other variables than those meant."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from whygrad.model import Finding, Site
from whygrad.rules import rewrite, words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="wrong-variables",
    family="missing",
    summary="gradients are asked for, or applied to, the variables of another network, or of none",
    what="The optimizer of one network was made from the parameters of another, or the gradients of one "
    "network are paired with the variables of another; or the list is empty: it was taken before the "
    "network had "
    "its layers, or it was walked through before.",
    why="One network is stepped twice, the other never. Both losses print, and the one that nobody follows "
    "simply does not go down.",
    bad="""\
actor_opt = torch.optim.Adam(actor.parameters(), lr=3e-4)
critic_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_loss.backward()
critic_opt.step()  # steps the actor""",
    good="""\
actor_opt = torch.optim.Adam(actor.parameters(), lr=3e-4)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
critic_loss.backward()
critic_opt.step()""",
    use_instead="Make each optimizer from the parameters of the network that its loss trains. In "
    "TensorFlow, use one name for the list in `tape.gradient` and in `apply_gradients`.",
    site="the call that got the wrong list",
    bad_tensorflow="""\
grads = tape.gradient(actor_loss, critic.trainable_variables)
actor_opt.apply_gradients(zip(grads, actor.trainable_variables))""",
    good_tensorflow="""\
variables = actor.trainable_variables
grads = tape.gradient(actor_loss, variables)
actor_opt.apply_gradients(zip(grads, variables))""",
    bad_jax="""\
grads = jax.grad(td_loss, argnums=1)(params, target_params, batch)
updates, opt_state = tx.update(grads, opt_state)
params = optax.apply_updates(params, updates)""",
    good_jax="""\
grads = jax.grad(td_loss)(params, target_params, batch)
updates, opt_state = tx.update(grads, opt_state)
params = optax.apply_updates(params, updates)""",
)

Kind: TypeAlias = Literal[
    "held", "asked", "stored", "paired", "applied", "local", "empty", "used-up"
]  # said below, each
Said: TypeAlias = tuple[str, str, str]  # the rest of the title, why, and what to do about it


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongVariables(Cause):
    """What is stepped is not what the gradients belong to."""

    rule: ClassVar[str] = PAGE.slug
    kind: Kind = "held"
    others: tuple[str, ...] = ()  # the networks that have what is meant for this one
    meant: tuple[str, ...] = ()  # the network that the loss is for
    copy: Site | None = None  # where the steps are taken back


def phrase(cause: WrongVariables) -> Finding:
    """Put an optimizer of the wrong network into words."""
    others = words.listed(cause.others) if cause.others else f"other {cause.dialect.parameters}"
    title, why, fix = _SAID[cause.kind](cause, others, _meant(cause))
    new = _with_the_right_name(cause)
    fix = f"write {words.code(new, words.LONG)}" if new else fix
    who = str(words.who(cause)) if cause.subjects else "the network"
    return words.say(cause, title=f"{who} {title}", why=why, fix=fix)


def _meant(cause: WrongVariables) -> str:
    return words.listed(cause.meant) if cause.meant else str(words.who(cause))


def _with_the_right_name(cause: WrongVariables) -> str | None:
    code, meant = words.source(cause), _meant(cause)
    if len(cause.others) != 1:
        return None
    return rewrite.with_name(code, words.in_scope(cause.others[0], code), words.in_scope(meant, code))


def _never(cause: WrongVariables) -> str:
    return "never change" if words.who(cause).several else "never changes"


def _held(cause: WrongVariables, others: str, meant: str) -> Said:
    """The optimizer was made for another network."""
    optimizer = cause.optimizer or "the optimizer"
    return (
        f"{_never(cause)}: {optimizer} holds {others}, not {meant}",
        f"The gradients of this loss are those of {meant}, and {optimizer} applies what it finds for "
        f"{others}.",
        f"make {optimizer} for the {cause.dialect.parameters} of {meant}",
    )


def _asked(cause: WrongVariables, others: str, meant: str) -> Said:
    """The gradients are asked for with the list of another network."""
    return (
        f"{_never(cause)}: the gradients are asked for {others}, not for {meant}",
        f"`{cause.dialect.ask}` hands over the gradients of what it is asked for, and nothing else: "
        f"{cause.optimizer or 'the optimizer'} finds none for {meant}.",
        f"ask for the gradients of `{words.variables(cause, words.source(cause))}`",
    )


def _stored(cause: WrongVariables, others: str, meant: str) -> Said:
    """The gradients are put where no optimizer looks."""
    return (
        f"{_never(cause)}: the gradients are put into {others}, which no optimizer holds",
        f"{cause.optimizer or 'The optimizer'} holds {meant} and finds no gradient there.",
        f"put the gradients into the {cause.dialect.parameters} of {meant}",
    )


def _paired(cause: WrongVariables, others: str, meant: str) -> Said:
    """The gradients were computed with the list of another network, and applied to this one."""
    own = "their own" if words.who(cause).several else "its own"
    verb = "are" if words.who(cause).several else "is"
    return (
        f"{verb} moved by the gradients of {others}, not by {own}",
        f"{_by_position(cause)}: the gradients of {others} change {meant}.",
        _one_list(cause, meant),
    )


def _applied(cause: WrongVariables, others: str, meant: str) -> Said:
    """The gradients of this network were applied to another one."""
    return (
        f"{_never(cause)}: the gradients are applied to {others}",
        f"{_by_position(cause)}: the gradients of {meant} change {others}.",
        _one_list(cause, meant),
    )


def _by_position(cause: WrongVariables) -> str:
    here = cause.dialect
    return f"`{here.step}` pairs gradients and {here.parameters} by their position in the lists"


def _one_list(cause: WrongVariables, meant: str) -> str:
    here = cause.dialect
    return (
        f"use one list, `{here.parameters} = {here.listed(meant)}`, for `{here.ask}` and `{here.step}` alike"
    )


def _local(cause: WrongVariables, others: str, meant: str) -> Said:
    """A worker trains its own copy."""
    copy = words.place(cause.copy, cause.site)
    return (
        f"{_never(cause)}: the steps go into {others}, a copy that is overwritten again",
        f"The copy{f' at {copy}' if copy else ''} gives {others} the weights of {meant}, which nobody "
        f"trains: each time, what {others} has learnt is lost.",
        f"compute the gradients with {others} and apply them to the {cause.dialect.parameters} of {meant}",
    )


def _empty(cause: WrongVariables, others: str, meant: str) -> Said:
    """There is nothing in the list."""
    here, code = cause.dialect, words.source(cause)
    return (
        f"{_never(cause)}: the list of {here.parameters} is empty",
        f"{words.code(code) if code else 'This call'} gets no {here.parameters} at all: {here.unmade}.",
        here.made_first,
    )


def _used_up(cause: WrongVariables, others: str, meant: str) -> Said:
    """An iterator that had been walked before."""
    here = cause.dialect
    owner = meant if cause.subjects and len(cause.meant) < 2 else "network"
    return (
        f"{_never(cause)}: the {here.parameters} were walked through before, and nothing is left of them",
        f"`{here.listed(owner)}` can be walked once; a loop, `list(...)`, `len(...)` or another optimizer "
        "has had it before this line.",
        f"ask for it again here, `{here.listed(owner)}`, or keep `list({here.listed(owner)})`",
    )


_SAID: dict[Kind, Callable[[WrongVariables, str, str], Said]] = {
    "held": _held,
    "asked": _asked,
    "stored": _stored,
    "paired": _paired,
    "applied": _applied,
    "local": _local,
    "empty": _empty,
    "used-up": _used_up,
}


RULE = Rule(PAGE, phrase, WrongVariables)
