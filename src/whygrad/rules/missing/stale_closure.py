"""stale-closure: a compiled function captured a network that has since been replaced.

Reads the details ``function`` and ``line`` (where it was captured).
"""

from whygrad.model import Finding
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="stale-closure",
    family="missing",
    summary="a compiled function captured a network that has since been replaced",
    what="A function that was compiled or bound once (`torch.compile`, `functools.partial`, a closure) keeps "
    "the network that it saw then, while the script has put another one in its place.",
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
)


def phrase(cause: Cause) -> Finding:
    """Put a captured network into words."""
    who = words.who(cause)
    function = cause.details.get("function") or "a compiled function"
    line = words.at(cause.details.get("line", ""))
    return words.say(
        cause,
        title=f"{who.does('gets', 'get')} no gradient: {function} still runs the network that it captured",
        why=f"{function} captured its network{line}; since then another one was put in its place, and only "
        "the captured one takes part in the loss.",
        fix=f"make {function} again after the network was replaced, or pass the network to it as an argument",
    )


RULE = Rule(PAGE, phrase)
