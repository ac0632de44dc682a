"""Questions about one loss, right before ``backward``: who would get a gradient, and why not the others."""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass, replace
from types import FrameType
from typing import TYPE_CHECKING, Any

from whygrad.api import current, unrecorded
from whygrad.api.findings import Findings
from whygrad.diagnosis import diagnose
from whygrad.flow.situation import Situation
from whygrad.frameworks.registry import brief
from whygrad.model import Finding
from whygrad.model.frameworks import FRAMEWORKS
from whygrad.rules.words import count, summed

if TYPE_CHECKING:
    from whygrad.frameworks.torch.asking import Answer


def explain(loss: Any, model: Any) -> Findings:
    """Which parameters of ``model`` would get no gradient from ``loss``, and why.

    To be called right before ``loss.backward()``. ``model`` is a module, an optimizer, or parameters.
    Nothing is differentiated. Inside of ``with whygrad.watching():`` (or under ``whygrad run``) the
    findings name the line; outside, only autograd's graph is known, and they say so.
    """
    question = Question(loss, model, sys._getframe(1))
    try:
        return question.verdict().findings
    except Exception as error:  # ours: it does not stop a training that only wanted to know
        return Findings(silence=f"whygrad could not look at this loss: {brief(error)}")


def assert_gradients_flow(loss: Any, model: Any) -> None:
    """Raise ``AssertionError`` if a parameter of ``model`` would get no gradient from ``loss``, saying why.

    A parameter that gets nothing but zeros, through ``round`` or ``sign``, counts as one without;
    parameters that do not require a gradient do not count.
    """
    __tracebackhide__ = True
    demand(Question(loss, model, sys._getframe(1)).verdict())


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one loss does to some parameters."""

    findings: Findings
    starved: tuple[str, ...]  # the names of the parameters that may learn and would not
    network: str


def demand(verdict: Verdict) -> None:
    """Every parameter that may learn gets a gradient; else ``AssertionError`` with the reasons."""
    __tracebackhide__ = True
    if verdict.starved:
        names = set(verdict.starved)
        reasons = Findings(f for f in verdict.findings if names.intersection(f.subjects))
        who = summed(verdict.starved, verdict.network)
        raise AssertionError(f"this loss gives no gradient to {who}\n\n{reasons}")


class Question:
    """A loss, and the parameters that should learn from it. Wrong use is one sentence, right away."""

    def __init__(self, loss: Any, model: Any, frame: FrameType | None) -> None:
        self._framework, self._asking = _who_knows(loss)
        self._parameters = self._asking.parameters_of(model)
        self._loss, self._model, self._frame = loss, model, frame

    def verdict(self) -> Verdict:
        """Ask the framework that the loss belongs to, and judge its answer."""
        backend = current.backend(self._framework)
        return _judged(self._asking.ask(backend, self._loss, self._parameters, self._model, self._frame))


def _judged(answer: Answer) -> Verdict:
    known = answer.evidence.parameters
    poor = [known[key] for key in sorted(answer.starved)]
    found = _honest(answer, diagnose(Situation(answer.evidence)))
    named = {name for finding in found for name in finding.subjects}
    untold = [p for p in poor if p.name not in named]
    if untold:
        found = [*found, unrecorded.finding(answer, untold)]
    whose = ", ".join(dict.fromkeys(known[key].network for key in sorted(answer.asked)))
    fine = count(len(answer.asked), "parameter")
    return Verdict(
        findings=Findings(found, silence=f"this loss reaches all of {whose} ({fine})"),
        starved=tuple(p.name for p in poor),
        network=", ".join(dict.fromkeys(p.network for p in poor)),
    )


def _honest(answer: Answer, findings: tuple[Finding, ...]) -> list[Finding]:
    """Without a recording nobody knows that a network was never called: say that, and nothing more."""
    silent = () if answer.recorded else ("loss-independent",)
    return [_only_now(finding) for finding in findings if finding.rule not in silent]


def _only_now(finding: Finding) -> Finding:
    """It is about this loss, and about no update yet."""
    return replace(finding, first_update=0, updates=0)


def _who_knows(loss: Any) -> tuple[str, Any]:
    for framework in FRAMEWORKS.values():
        if framework.asking and framework.name in sys.modules:
            asking = importlib.import_module(framework.asking)
            if asking.understands(loss):
                return framework.name, asking
    hint = ": it has left the framework (`.item()`, `float()`)" if isinstance(loss, (int, float)) else ""
    raise TypeError(f"whygrad needs the loss as a tensor of torch, and this is a {type(loss).__name__}{hint}")
