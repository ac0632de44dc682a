"""Updates that are made by hand: nobody says what they are meant to change."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.flow.situation import Situation
from whygrad.model import Note, Parameter, Site


def passed_over(situation: Situation) -> Iterator[Note]:
    """A network that a loss is computed with, that gets no gradient from it, and that nothing changes.

    An optimizer would have it in its list, and then it would be a fault. A loop that passes over what has no
    gradient leaves no trace of it.
    """
    optimizers = [o for o in situation.evidence.optimizers.values() if o.steps]
    if not any(o.by_hand for o in optimizers):
        return
    held = frozenset[int]().union(*(o.held for o in optimizers))
    told: set[str] = set()
    for backward in reversed(list(situation.backwards)):
        for parameter in situation.parameters(situation.reach(backward).parameters.keys() - held):
            if parameter.network not in told and _idle(situation, parameter):
                told.add(parameter.network)
                yield _note(parameter, backward.flow[backward.roots[0]].site or backward.site)


def _idle(situation: Situation, parameter: Parameter) -> bool:
    lives = parameter.trainable and parameter.lasting and parameter.alive
    given = parameter.trained or parameter.moved or parameter.loaded
    return lives and not given and not situation.is_copy(parameter.key)


def _note(parameter: Parameter, site: Site | None) -> Note:
    where = f" at line {site.line}" if site is not None else ""
    name = parameter.network or parameter.name
    text = f"{name} takes part in the loss{where}, gets no gradient from it, and nobody was seen to update it"
    return Note(text, site, "doubt")
