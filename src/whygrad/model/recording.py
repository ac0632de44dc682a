"""What is kept of a run: everything that judging needs, and no verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from whygrad.model.choice import Choice
from whygrad.model.evidence import Evidence
from whygrad.model.history import Watched
from whygrad.model.process import Process, Raised
from whygrad.model.run import Note, UpdateCount


@dataclass(frozen=True, slots=True)
class Observation:
    """What a backend has seen so far."""

    evidence: Evidence = field(default_factory=Evidence)
    updates: tuple[UpdateCount, ...] = ()
    notes: tuple[Note, ...] = ()
    version: str = ""


@dataclass(frozen=True, slots=True)
class About:
    """A run as its runner knows it: what was run, where and when, and how it ended."""

    script: str
    argv: tuple[str, ...] = ()
    frameworks: tuple[str, ...] = ()  # that the program imported, in that order
    versions: tuple[tuple[str, str], ...] = ()
    exit_code: int = 0
    exception: Raised | None = None
    notes: tuple[Note, ...] = ()  # of the runner: what could not be watched, and why
    seconds: float = 0.0
    stopped_early: bool = False
    finished: bool = True  # false: the script was still running
    started: str = ""  # ISO 8601, local time with its offset
    pid: int = 0
    host: str = ""
    watched: Watched | None = None
    blind: str = ""  # why something could not be watched at all: our own failure
    choice: Choice | None = None  # which rules the user wants to hear of
    process: Process | None = None  # one of many


@dataclass(frozen=True, slots=True)
class Recording:
    """A run before it is judged. ``sources`` are the texts of the files that it speaks of, by their names."""

    about: About
    observed: Mapping[str, Observation] = field(default_factory=dict)  # by framework
    sources: Mapping[str, str] = field(default_factory=dict)
    whygrad: str = ""  # the version that recorded it
