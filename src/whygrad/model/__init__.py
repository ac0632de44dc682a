"""The nouns of whygrad: plain, frozen, standard library only."""

from whygrad.model.drawing import Drawing, DrawnLoss, Layer, Weight, Wire
from whygrad.model.events import Alias, Clear, Clip, Copy, Flag, Handover, Switch
from whygrad.model.evidence import Backward, Changed, Crash, EmptyList, Evidence, Optimizer, Update
from whygrad.model.finding import Confidence, Finding, Mark, Severity, Step
from whygrad.model.flow import UNRANKED, Block, Flow, Op, Parameter
from whygrad.model.gradient_map import GradientMap, LossTerm, Reached, Role
from whygrad.model.health import Look, Moved, Print, Pulse, Values
from whygrad.model.history import Series, Watched
from whygrad.model.kinds import Kind
from whygrad.model.process import Duty, Process, Raised, Trace
from whygrad.model.recording import About, Observation, Recording
from whygrad.model.run import Note, Run, UpdateCount, Verdict
from whygrad.model.site import Excerpt, Site

__all__ = [
    "UNRANKED",
    "About",
    "Alias",
    "Backward",
    "Block",
    "Changed",
    "Clear",
    "Clip",
    "Confidence",
    "Copy",
    "Crash",
    "Drawing",
    "DrawnLoss",
    "Duty",
    "EmptyList",
    "Evidence",
    "Excerpt",
    "Finding",
    "Flag",
    "Flow",
    "GradientMap",
    "Handover",
    "Kind",
    "Layer",
    "Look",
    "LossTerm",
    "Mark",
    "Moved",
    "Note",
    "Observation",
    "Op",
    "Optimizer",
    "Parameter",
    "Print",
    "Process",
    "Pulse",
    "Raised",
    "Reached",
    "Recording",
    "Role",
    "Run",
    "Series",
    "Severity",
    "Site",
    "Step",
    "Switch",
    "Trace",
    "Update",
    "UpdateCount",
    "Values",
    "Verdict",
    "Watched",
    "Weight",
    "Wire",
]
