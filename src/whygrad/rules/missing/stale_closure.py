"""stale-closure: a compiled function captured a network that has since been replaced.

Reads the details ``function`` and ``line`` (where it was captured).
"""

import re

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
)


def phrase(cause: Cause) -> Finding:
    """Put a captured network into words."""
    if words.on_tensorflow(cause):
        return _on_tensorflow(cause)
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


def _on_tensorflow(cause: Cause) -> Finding:
    who, code = words.who(cause), words.source(cause)
    function = cause.details.get("function") or _traced(code)
    name, line = function or "the tf.function", words.at(cause.details.get("line", ""))
    wraps = function and "function(" in code
    again = f"write {words.code(code)} again" if wraps else f"make {f'`{name}`' if function else name} anew"
    return words.say(
        cause,
        title=f"{who.does('gets', 'get')} no gradient: {name} still runs the network that it captured",
        why=f"`tf.function` traced {name} with the variables that it saw first{line}; the network that has "
        "since been put in their place is not in that graph.",
        fix=f"{again} after {who} has been replaced; or keep the network and give it new values: "
        "`set_weights(...)`",
        avoid="`tf.config.run_functions_eagerly(True)`: for debugging only, every step becomes slow",
    )


def _traced(code: str) -> str:
    """The compiled function that a line defines, makes or calls."""
    defined = re.match(r"\s*def (\w+)", code)
    called = re.search(r"(?:=|return|^)\s*([\w.]+)\(", code)
    if defined:
        return defined[1]
    return called[1] if called and not called[1].endswith("function") else rewrite.assigned(code)


RULE = Rule(PAGE, phrase)
