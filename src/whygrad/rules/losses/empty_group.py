"""empty-group: all rewards of a group are equal, so that its advantages are zero."""

from dataclasses import dataclass
from typing import ClassVar

from whygrad.model import Finding, Severity, Site
from whygrad.rules import words
from whygrad.rules.cause import Cause
from whygrad.rules.rule import Page, Rule

#: Of all groups that were looked at.
NEARLY_ALL = 0.95
MOST = 0.8

PAGE = Page(
    slug="empty-group",
    family="unhealthy",
    summary="GRPO: all rewards of a group are equal, so its advantages and its gradient are zero",
    what="An advantage is a reward minus the mean of its group: the answers to one prompt. Where all of a "
    "group have the same reward, each advantage in it is zero, and so is all that the policy term gives. "
    f"An error where {NEARLY_ALL:.0%} of the groups are so, early and late in the run, a warning where "
    f"{MOST:.0%} are. Some such groups are usual, and more of them when a task is nearly solved: nothing is "
    "said then.",
    why="The loss is a number, a KL term or an entropy bonus goes on giving gradients, and the policy learns "
    "nothing from its rewards.",
    bad="""\
rewards = (prompts.sum(1) > 0).float().view(-1, group)  # the same for all answers to a prompt
spread = rewards.std(1, keepdim=True) + 1e-4
advantages = (rewards - rewards.mean(1, keepdim=True)) / spread""",
    good="""\
rewards = (answers < 3).float().view(-1, group)
spread = rewards.std(1, keepdim=True) + 1e-4
advantages = (rewards - rewards.mean(1, keepdim=True)) / spread""",
    use_instead="Rewards that differ within a group: sample with a temperature above zero, give credit for "
    "a part of the answer or its format, take prompts that are solved now and then, and leave groups "
    "without spread out of the batch.",
    avoid="a smaller epsilon beside the standard deviation: of equal rewards it makes zeros, or noise",
    site="where the advantage is computed: the mean of the group is taken away there",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmptyGroup(Cause):
    """Groups of rewards that are all the same."""

    rule: ClassVar[str] = PAGE.slug
    empty: int = 0  # groups without spread, of those that were looked at
    groups: int = 0  # all of those
    size: int = 0  # of a group
    multiplied: Site | None = None  # where the loss meets the advantage


def phrase(cause: EmptyGroup) -> Finding:
    """Put groups without spread into words."""
    who = words.who(cause)
    if cause.severity is not Severity.ERROR:
        learns = f"{who.does('learns', 'learn')} from few of the rewards"
    else:
        nothing = "nothing" if cause.empty == cause.groups else "next to nothing"
        learns = f"{who.does('learns', 'learn')} {nothing} from the rewards"
    counted = f"all rewards are equal in {_counted(cause)}"
    besides = f" (another term of the loss still moves {who.it})" if cause.masked else ""
    size = f" of {cause.size}" if cause.size else ""
    return words.say(
        cause,
        title=f"{learns}: {counted}{besides}",
        why=f"A reward minus the mean of its group{size} is zero if all of them are the same, and the policy "
        f"term{words.near(cause.multiplied, cause.site)} is multiplied with it.",
        fix="look at the rewards of one group: do they depend on the answer, and do the answers differ "
        "(temperature, `do_sample`)? If they do, the task is too hard or too easy: give credit for parts, "
        "choose other prompts, use larger groups",
        avoid="a smaller epsilon or a larger learning rate: zero divided by anything is zero",
    )


def _counted(cause: EmptyGroup) -> str:
    if not cause.groups:
        return "nearly every group"
    if cause.empty == cause.groups:
        return f"all {words.count(cause.groups, 'group')} that were looked at"
    return f"{cause.empty:,} of {words.count(cause.groups, 'group')} that were looked at"


RULE = Rule(PAGE, phrase, EmptyGroup)
