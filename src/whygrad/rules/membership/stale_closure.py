"""stale-closure: a compiled function captured a network that has since been replaced."""

import re
from dataclasses import dataclass
from typing import ClassVar

from whygrad.model import Finding
from whygrad.rules import rewrite, words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="stale-closure",
    family="missing",
    summary="a compiled function captured a network that has since been replaced",
    what="A function that was compiled or bound once (`torch.compile`, `tf.function`, `functools.partial`, a "
    "closure) keeps the network that it saw then, while the script has put another one in its place.",
    why="The loss is computed with the old network and the optimizer holds the new one, or the reverse. "
    "Either way, what is stepped is not what is used.",
    bad="""\
policy = make_policy()
act = torch.compile(policy)
policy = make_policy()  # a restart: act still runs the old one
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-4)
loss = loss_fn(act(state))""",
    good="""\
policy = make_policy()
act = torch.compile(policy)
policy.load_state_dict(make_policy().state_dict())
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-4)
loss = loss_fn(act(state))""",
    use_instead="Compile again after replacing the network, pass the network as an argument, or keep the "
    "object and load new values into it.",
    site="where the network was captured",
    bad_tensorflow="""\
policy = make_policy()
act = tf.function(policy)
act(state)
policy = make_policy()  # a restart: act still runs the old one""",
    good_tensorflow="""\
policy = make_policy()
act = tf.function(policy)
act(state)
policy.set_weights(make_policy().get_weights())""",
    bad_jax="""\
@jax.jit
def targets(reward, next_obs):
    return reward + 0.99 * network.apply(agent.target_params, next_obs).max(-1)  # those of the first call""",
    good_jax="""\
@jax.jit
def targets(target_params, reward, next_obs):
    return reward + 0.99 * network.apply(target_params, next_obs).max(-1)""",
)

_COMPILERS = ("function", "compile", "jit", "partial")  # the ends of the names of what makes such functions


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleClosure(Cause):
    """A function goes on with the network that it was compiled with; its line is the site."""

    rule: ClassVar[str] = PAGE.slug
    by_network: ClassVar[bool] = True


def phrase(cause: StaleClosure) -> Finding:
    """Put a captured network into words."""
    who, code = words.who(cause), words.source(cause)
    function = _compiled(code)
    alias = function == str(who)  # nobody has the network any more, but through the function
    network = "the network" if alias or not cause.subjects else str(who)
    name = function if function and not alias else "the compiled function"
    owner = words.in_scope(words.networks(cause).partition(", ")[0], code) if network == str(who) else "net"
    return words.say(
        cause,
        title=f"{who.does('gets', 'get')} no gradient: {name} still runs the network that it captured",
        why=f"{name.replace('the ', 'The ')} keeps the {cause.dialect.parameters} that it saw first; the "
        "network that has since been put in their place has no part in what it computes.",
        fix=f"{_again(code, function)} after {network} {'have' if who.several else 'has'} been replaced, or "
        "pass the network to it as an argument; or keep the network and give it new values: "
        f"`{cause.dialect.copied(owner, 'new')}`",
        avoid="switching compilation off for the whole program: every step becomes slow",
    )


def _again(code: str, function: str) -> str:
    if function and function == rewrite.assigned(code):
        return f"write {words.code(code)} again"
    return f"make {f'`{function}`' if function else 'the compiled function'} anew"


def _compiled(code: str) -> str:
    """The compiled function that a line defines, makes or calls."""
    defined = re.match(r"\s*def (\w+)", code)
    called = re.search(r"(?:=|return|^)\s*([\w.]+)\(", code)
    if defined:
        return defined[1]
    return called[1] if called and not called[1].endswith(_COMPILERS) else rewrite.assigned(code)


RULE = Rule(PAGE, phrase, StaleClosure)
