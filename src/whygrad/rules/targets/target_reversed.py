"""target-reversed: the sync goes the wrong way round."""

from dataclasses import dataclass
from typing import ClassVar

from whygrad.model import Finding
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

PAGE = Page(
    slug="target-reversed",
    family="wrong",
    summary="the sync writes the target into the online network, or has `tau` and `1 - tau` swapped",
    what="Weights go from the target network into the network that is trained; or a soft update keeps the "
    "small part of the target and takes the large part of the online network.",
    why="In the first case each sync undoes what was learnt. In the second the target follows at once: it "
    "is hardly a target network any more.",
    bad="""\
for p, t in zip(q_net.parameters(), target_net.parameters()):
    p.data.copy_(tau * t.data + (1 - tau) * p.data)""",
    good="""\
for p, t in zip(q_net.parameters(), target_net.parameters()):
    t.data.copy_(tau * p.data + (1 - tau) * t.data)""",
    use_instead="The target is what is written to, and with a small `tau` it keeps `1 - tau` of itself: "
    "`t.lerp_(p, tau)`.",
    site="the sync",
    bad_tensorflow="""\
for p, t in zip(q_net.variables, target_net.variables):
    p.assign(tau * t + (1 - tau) * p)""",
    good_tensorflow="""\
for p, t in zip(q_net.variables, target_net.variables):
    t.assign(tau * p + (1 - tau) * t)""",
    bad_jax="""\
target_params = optax.incremental_update(target_params, params, 0.005)  # new ones first""",
    good_jax="""\
target_params = optax.incremental_update(params, target_params, 0.005)""",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetReversed(Cause):
    """A sync into the wrong network, or in the wrong proportion."""

    rule: ClassVar[str] = PAGE.slug
    seen: ClassVar[bool] = True
    online: str = ""
    target: str = ""
    taken: float | None = None  # of the online network at each sync, where that is the wrong part
    kept: float | None = None  # of the target, where the two do not add up


def phrase(cause: TargetReversed) -> Finding:
    """Put a sync the wrong way round into words."""
    online, target = cause.online or "the online network", cause.target or "the target network"
    if cause.taken is not None and cause.kept is not None:
        return _out_of_proportion(cause, online, target)
    if cause.taken is not None:
        return _swapped(cause, online, target)
    return words.say(
        cause,
        title=f"the sync overwrites {online} with {target}",
        why=f"{online} is what the optimizer trains; each sync pulls it back to the weights of {target}, "
        "which never learns.",
        fix=f"write into {target} instead: it is the one that follows",
    )


def _out_of_proportion(cause: TargetReversed, online: str, target: str) -> Finding:
    return words.say(
        cause,
        title=f"{target} becomes {cause.kept:g} of itself and {cause.taken:g} of {online} at each sync",
        why="The two parts of a soft update add up to 1. Here they do not, so the weights of the target "
        "shrink or grow with every sync.",
        fix="take `tau * online + (1 - tau) * target`, with brackets around `1 - tau`",
    )


def _swapped(cause: TargetReversed, online: str, target: str) -> Finding:
    return words.say(
        cause,
        title=f"{target} takes {cause.taken:g} of {online} at each sync: tau and 1 - tau are swapped",
        why="A soft update keeps most of the target and takes a little of the online network; here it is "
        "the other way round, so the target follows at once.",
        fix="swap the two factors: `tau * online + (1 - tau) * target`",
    )


RULE = Rule(PAGE, phrase, TargetReversed)
