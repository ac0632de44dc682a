"""wrong-variables: gradients are asked for, or applied to, other variables than those meant.

Reads the details ``optimizer``, ``holds`` (what it really holds) and ``expected``.
"""

from whygrad.model import Finding
from whygrad.rules import rewrite, words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="wrong-variables",
    family="missing",
    summary="gradients are asked for, or applied to, the variables of another network",
    what="The optimizer of one network was made from the parameters of another, or the gradients of one "
    "network are paired with the variables of another.",
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
    use_instead="Make each optimizer from the parameters of the network that its loss trains.",
    site="the call that got the wrong list",
)


def phrase(cause: Cause) -> Finding:
    """Put an optimizer of the wrong network into words."""
    details, who, code = cause.details, words.who(cause), words.source(cause)
    optimizer = details.get("optimizer") or cause.optimizer or "the optimizer"
    holds = details.get("holds") or "other parameters"
    expected = details.get("expected") or str(who)
    new = rewrite.with_name(code, words.in_scope(holds, code), words.in_scope(expected, code))
    return words.say(
        cause,
        title=f"{who.does('never changes', 'never change')}: {optimizer} holds {holds}, not {expected}",
        why=f"The loss leaves its gradients in {expected}, and {optimizer}.step() applies what it finds in "
        f"{holds}.",
        fix=f"write {words.code(new)}" if new else f"make {optimizer} from the parameters of {expected}",
    )


RULE = Rule(PAGE, phrase)
