"""From what was seen to a finished ``Run``: the one way, for live runs, blocks and recordings."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace

from whygrad.diagnosis import Picture, diagnose, picture
from whygrad.flow.facts import learning
from whygrad.flow.situation import Situation
from whygrad.frameworks.registry import Registry, brief
from whygrad.model import About, Drawing, Finding, Note, Observation, Run, Severity, UpdateCount, Watched
from whygrad.model.choice import Choice
from whygrad.running.excerpts import excerpts
from whygrad.running.ignoring import ignoring

Situations = Mapping[str, Situation]


def conclude(observed: Mapping[str, Observation], about: About, strict: bool = False) -> Run:
    """What happened and what was found, over all frameworks.

    A failure of ours becomes a note, so that nothing else is lost; to be ``strict`` is to raise it.
    """
    situations = {name: Situation(observation.evidence) for name, observation in observed.items()}
    findings, trouble = _judged(situations, strict)
    seen = _pictured(situations, all(f.severity is Severity.NOTE for f in findings), strict)
    told = [note for observation in observed.values() for note in observation.notes]
    run = Run(
        script=about.script,
        argv=about.argv,
        frameworks=about.frameworks,
        versions=about.versions,
        exit_code=about.exit_code,
        exception=about.exception,
        updates=tuple(u for name, o in observed.items() for u in _measured(situations[name], o)),
        findings=findings,
        notes=(*about.notes, *told, *trouble, *seen.certificates),
        gradient_map=seen.gradient_map,
        roles=seen.roles,
        seconds=about.seconds,
        stopped_early=about.stopped_early,
        drawing=seen.drawing,
        finished=about.finished,
        started=about.started,
        pid=about.pid,
        host=about.host,
        blind=_blind(observed, about, trouble),
    )
    return with_summaries(_with_sources(ignoring(run, about.choice or Choice()), strict), about.watched)


def _measured(situation: Situation, observation: Observation) -> tuple[UpdateCount, ...]:
    """The counts of a framework, with what was measured: who learns, and who was not seen to."""
    optimizers = tuple(situation.evidence.optimizers.values())
    if len(optimizers) != len(observation.updates):
        return observation.updates
    found = []
    for known, optimizer in zip(observation.updates, optimizers, strict=True):
        learn, silent = learning(situation, optimizer) if known.recorded else (known.networks, ())
        found.append(replace(known, networks=learn, silent=silent, made=optimizer.made))
    return tuple(found)


def described(about: About, registry: Registry, observed: Mapping[str, Observation]) -> About:
    """With what this process and the backends know: who was watched, and what could not be."""
    return replace(
        about,
        frameworks=tuple(registry.seen),
        versions=_versions(observed, registry.seen),
        notes=(*about.notes, *registry.notes),
        blind=about.blind or next(iter(registry.blind), "") or _elsewhere(observed),
        pid=os.getpid(),
        host=socket.gethostname(),
    )


def _elsewhere(observed: Mapping[str, Observation]) -> str:
    """Keras on another framework than TensorFlow has optimizers of its own: has somebody seen them?"""
    backend = getattr(sys.modules.get("keras.src.backend.config"), "_BACKEND", "tensorflow")
    torch = observed.get("torch")
    if backend == "tensorflow" or (torch is not None and any(u.count for u in torch.updates)):
        return ""
    if backend == "torch":
        return "Keras runs on torch here, and none of its updates was seen"
    return f"Keras runs on {backend} here, and its training is watched on TensorFlow and PyTorch only"


def findings(observed: Mapping[str, Observation]) -> tuple[Finding, ...]:
    """What is wrong so far, and nothing else."""
    return _judged({name: Situation(o.evidence) for name, o in observed.items()})[0]


def with_summaries(run: Run, watched: Watched | None) -> Run:
    """The run with its summaries, and with what the user should know of them beside where they are."""
    if watched is None:
        return run
    return replace(run, watched=watched, notes=(*run.notes, *_about_summaries(watched)))


def _blind(observed: Mapping[str, Observation], about: About, trouble: Sequence[Note]) -> str:
    """From where on nothing was judged, and why; nothing if all of it was."""
    for observation in observed.values():
        evidence = observation.evidence
        if evidence.lost:
            return f"judging stopped at update {evidence.lost_after + 1:,}: {evidence.lost}"
    return about.blind or next((note.text for note in trouble), "")


def _with_sources(run: Run, strict: bool) -> Run:
    try:
        return replace(run, sources=excerpts(run))
    except Exception as error:
        if strict:
            raise
        note = Note(f"whygrad could not read the sources: {brief(error)}", kind="internal")
        return replace(run, notes=(*run.notes, note))


def _judged(situations: Situations, strict: bool = False) -> tuple[tuple[Finding, ...], tuple[Note, ...]]:
    """The findings of every framework, and what went wrong on our side."""
    found: list[Finding] = []
    trouble: list[Note] = []
    for name, situation in situations.items():
        try:
            found += diagnose(situation)
        except Exception as error:
            if strict:
                raise
            text = f"whygrad could not judge what {name} did: {brief(error)}"
            trouble.append(Note(text, kind="internal"))
    return tuple(found), tuple(trouble)


def _pictured(situations: Situations, healthy: bool, strict: bool) -> Picture:
    """Who trains whom and what is right, over all frameworks; a failure of ours leaves its part empty."""
    parts: list[Picture] = []
    for situation in situations.values():
        try:
            parts.append(picture(situation, healthy))
        except Exception as error:
            if strict:
                raise
            parts.append(Picture(certificates=(Note(f"no gradient map: {brief(error)}", kind="internal"),)))
    return Picture(
        tuple(m for p in parts for m in p.gradient_map),
        tuple(r for p in parts for r in p.roles),
        tuple(n for p in parts for n in p.certificates),
        next((p.drawing for p in parts if p.drawing.losses), Drawing()),
    )


def _about_summaries(watched: Watched) -> list[Note]:
    found = []
    if watched.trouble:
        found.append(Note(f"summaries ended early: {watched.trouble}", kind="internal"))
    if watched.refused and not watched.trouble:
        text = f"{watched.refused} summaries were not written: the disk did not keep up ({watched.schedule})"
        found.append(Note(text))
    if watched.late:
        text = (
            f"{watched.late} updates that were due are not summarized: several were made in one call of a "
            "compiled function, which shows only its last"
        )
        found.append(Note(text))
    return found


def _versions(observed: Mapping[str, Observation], seen: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Of who made updates; TensorFlow imports JAX where it is installed, and that is nobody's training."""
    found = [("python", sys.version.split()[0])]
    busy = [n for n in seen if n in observed and _busy(observed[n])]
    for name in busy or seen:
        version = observed[name].version if name in observed else ""
        found.append((name, str(version or getattr(sys.modules.get(name), "__version__", "") or "")))
    return tuple(found)


def _busy(observation: Observation) -> bool:
    """Has anything been trained with it, or was about to be?"""
    evidence = observation.evidence
    return any(u.count for u in observation.updates) or bool(evidence.optimizers or evidence.parameters)
