"""Lists with nothing in them: an optimizer that cannot be made, a tape that is asked for no variables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from whygrad.flow.situation import Situation
from whygrad.flow.source import feeding_lines
from whygrad.model import Backward, EmptyList, Mark, Parameter, Site, Step, source
from whygrad.rules.cause import Cause
from whygrad.rules.dialects import dialect_of
from whygrad.rules.membership.frozen import Frozen
from whygrad.rules.membership.not_tracked import NotTracked
from whygrad.rules.membership.wrong_variables import WrongVariables


def empty(situation: Situation) -> Iterator[Cause]:
    """One cause for each line that was given an empty list, and why it was empty."""
    for nothing in {e.site: e for e in situation.evidence.empty}.values():
        if not _made_after_all(situation, nothing):
            yield _not_made(situation, nothing)
    for asked in _asked_for_nothing(situation):
        yield _not_asked(situation, asked)


# -- optimizers -----------------------------------------------------------------------------------


def _made_after_all(situation: Situation, nothing: EmptyList) -> bool:
    """The error was caught, and the same line has made one later."""
    made = situation.evidence.optimizers.values()
    return any(o.made is not None and o.made == nothing.site and o.steps for o in made)


def _not_made(situation: Situation, nothing: EmptyList) -> Cause:
    members = _meant(situation, nothing)
    untracked = [p for p in members if p.untracked_in and p.trainable]
    if untracked:
        return _untracked(situation, untracked, nothing.site)
    frozen = [p for p in members if not p.trainable]
    if frozen and not nothing.used_up and len(frozen) == len(members):
        return _frozen(situation, frozen, nothing.site)
    known = members if nothing.asked or nothing.used_up else ()
    return WrongVariables(
        kind="used-up" if nothing.used_up else "empty",
        site=nothing.site,
        subjects=tuple(known),
        chain=(Step.at(nothing.site, nothing.kind or "the optimizer", mark=Mark.BROKEN),),
    )


def _meant(situation: Situation, nothing: EmptyList) -> tuple[Parameter, ...]:
    """The parameters that the optimizer was meant for.

    If it is not known whose list it was: those that the line speaks of, or else all that nobody holds.
    """
    members = situation.parameters(nothing.parameters)
    if nothing.asked or nothing.site is None:
        return members
    own = tuple(p for p in members if not situation.is_copy(p.key) and not p.loaded)
    return _spoken(nothing.site, members) or own or members


def _spoken(site: Site | None, members: Iterable[Parameter]) -> tuple[Parameter, ...]:
    """Those whose network is named on a line, or on those that feed it."""
    said = set(re.findall(r"\w+", _text(site))) if site is not None else set()
    return tuple(p for p in members if _last(p.network) in said)


def _text(site: Site) -> str:
    """The line, and those that give its names their values."""
    near = [line for line, distance in feeding_lines(site.file, site.line).items() if distance < 2]
    return " ".join((site.code, *(source.line(site.file, line) for line in near)))


def _last(network: str) -> str:
    """The name itself, of a network that is an attribute: ``critic`` of ``agent.critic``."""
    return re.sub(r"\[.*?\]", "", network).rpartition(".")[2]


# -- tapes ----------------------------------------------------------------------------------------


def _asked_for_nothing(situation: Situation) -> Iterator[Backward]:
    """The last call of each line on which a tape was asked for an empty list, every time."""
    lines: dict[Site | None, list[Backward]] = {}
    for backward in situation.backwards:
        if backward.tape:
            lines.setdefault(backward.site, []).append(backward)
    for calls in lines.values():
        again = sum(b.runs for b in calls) > 1 or not situation.evidence.finished
        if again and all(b.asked == 0 for b in calls):
            yield calls[-1]


def _not_asked(situation: Situation, asked: Backward) -> Cause:
    """Frozen, unknown to its model, or not there yet when the list was taken."""
    alone = [p for p in situation.parameters(asked.reached) if p.key not in situation.holders and p.lasting]
    members = [p for p in alone if not situation.is_copy(p.key)] or _born_frozen(situation, asked)
    learning = [p for p in members if p.trainable]
    untracked = [p for p in learning if p.untracked_in]
    if untracked:
        return _untracked(situation, untracked, asked.site)
    if members and not learning:
        return _frozen(situation, members, asked.site)
    return WrongVariables(
        kind="empty",
        site=asked.site,
        subjects=tuple(learning),
        chain=(*_from(learning), Step.at(asked.site, _asking(situation), mark=Mark.HERE)),
        loss=asked.flow[asked.roots[0]].site if asked.roots else None,
    )


def _born_frozen(situation: Situation, asked: Backward) -> list[Parameter]:
    """Frozen before it was built: then not even a tape knows that it is there."""
    known = [p for p in situation.evidence.parameters.values() if p.key not in situation.holders]
    frozen = [p for p in known if not p.trainable and p.frozen_at is not None and not p.copy_of]
    return list(_spoken(asked.site, frozen)) or [p for p in frozen if not p.loaded]


# -- causes ---------------------------------------------------------------------------------------


def _untracked(situation: Situation, members: list[Parameter], asked: Site | None) -> Cause:
    first = members[0]
    return NotTracked(
        site=first.made[0] if first.made else asked,
        subjects=tuple(members),
        chain=(*_from(members), Step.at(asked, "the list is empty", mark=Mark.HERE)),
        holder=first.untracked_in,
        how=first.untracked_how,
        asked=asked,
    )


def _frozen(situation: Situation, members: list[Parameter], asked: Site | None) -> Cause:
    own = [p for p in members if not p.loaded] or members
    site = next((p.frozen_at for p in own if p.frozen_at is not None), asked)
    words = dialect_of(situation.evidence.framework)
    return Frozen(
        site=site,
        subjects=tuple(p for p in own if p.frozen_at == site) or tuple(own),
        chain=(*_from(own), Step(words.frozen, site, mark=Mark.CUT), Step.at(asked, "the list is empty")),
    )


def _from(members: Iterable[Parameter]) -> tuple[Step, ...]:
    """Where the first of them was made."""
    return tuple(Step(p.name, p.made[0] if p.made else None) for p in members)[:1]


def _asking(situation: Situation) -> str:
    return dialect_of(situation.evidence.framework).ask
