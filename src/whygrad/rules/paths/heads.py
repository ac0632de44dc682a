"""Heads that nobody uses: their network learns, their output is handed out, and no loss asks for it."""

from __future__ import annotations

from whygrad.flow.paths import Reach, ancestors
from whygrad.flow.situation import Situation
from whygrad.flow.source import handed_out
from whygrad.model import Optimizer, Parameter


def unused_head(situation: Situation, optimizer: Optimizer, parameter: Parameter) -> bool:
    """May this part of a network be left alone by design?

    Not where a sibling of the same shape learns (one of two critics, one of many heads), where its output
    gets lost inside of ``forward``, or where anything else has to do with it: a loss that was left out, a
    value that went into a number, a cut path, distributed training that waits for it.
    """
    crash = situation.evidence.crash
    if not parameter.used or (crash is not None and parameter.key in crash.unused):
        return False
    learning = _learning(situation, optimizer, parameter)
    twins = any(p.shape == parameter.shape for p in learning if len(p.shape) > 1)
    return (
        bool(learning) and not twins and _handed_out(parameter) and not _asked_for(situation, parameter.key)
    )


def _learning(situation: Situation, optimizer: Optimizer, parameter: Parameter) -> list[Parameter]:
    """What is trained of the same network."""
    silent = situation.evidence.always_absent.get(optimizer.key, frozenset())
    held = situation.parameters(optimizer.held - silent)
    return [p for p in held if p.network == parameter.network and p.trained]


def _handed_out(parameter: Parameter) -> bool:
    """Does the module give away what this layer computes?"""
    path = parameter.name.removeprefix(f"{parameter.network}.").split(".")[:-1]
    files = {site.file for site in parameter.made}
    return any(handed_out(file, name) for file in files for name in path)


def _asked_for(situation: Situation, key: int) -> bool:
    """Is there any other value that depends on it and that somebody wanted?"""
    for backward in situation.backwards:
        if key in situation.reach(backward).parameters:
            return True
        if any(key in Reach(backward.flow, [scalar]).parameters for scalar in backward.unused):
            return True
        gone = (n for number in backward.exits for n in ancestors(backward.flow, number))
        if any(backward.flow[n].parameter == key for n in gone):
            return True
    return False
