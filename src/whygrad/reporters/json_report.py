"""The public JSON report, format 1, and the way back from it."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from whygrad import __version__, strangers
from whygrad.model import (
    Confidence,
    Duty,
    Excerpt,
    Finding,
    GradientMap,
    LossTerm,
    Mark,
    Note,
    Process,
    Raised,
    Reached,
    Role,
    Run,
    Severity,
    Site,
    Step,
    Trace,
    UpdateCount,
    Watched,
)
from whygrad.model.believing import believed
from whygrad.model.choice import Ignored
from whygrad.model.patch import Patch
from whygrad.reporters import json_drawing
from whygrad.reporters.places import below

FORMAT = 1


def render(run: Run) -> str:
    """The run as JSON. Files below the starting directory are written relative to it."""
    document = {
        "format": FORMAT,
        "whygrad": __version__,
        "finished": run.finished,
        "started": run.started,
        "pid": run.pid,
        "host": run.host,
        "script": run.script,
        "argv": list(run.argv),
        "frameworks": list(run.frameworks),
        "versions": dict(run.versions),
        "exit_code": run.exit_code,
        "exception": _raised(run.exception),
        "verdict": str(run.verdict),
        "doubts": list(run.doubts),
        "healthy": run.healthy,
        "blind": run.blind,
        "stopped_early": run.stopped_early,
        "seconds": round(run.seconds, 3),
        "updates": [_update(u) for u in run.updates],
        "findings": [finding(f) for f in run.findings],
        "gradient_map": [_map(m) for m in run.gradient_map],
        "roles": [
            {"network": r.network, "role": r.role, "why": r.why, "site": _site(r.site)} for r in run.roles
        ],
        "drawing": json_drawing.write(run.drawing, _site),
        "sources": [{"file": below(e.file), "first": e.first, "lines": list(e.lines)} for e in run.sources],
        "processes": [_process(p) for p in run.processes],
        "watched": _watched(run.watched),
        "ignored": [
            {"rule": i.rule, "title": i.title, "site": _site(i.site), "by": i.by} for i in run.ignored
        ],
        "notes": [{"kind": n.kind, "text": n.text, "site": _site(n.site)} for n in run.notes],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def parse(text: str | bytes) -> Run:
    """The run that a report was made of. Raises ``ValueError`` for anything else."""
    data = strangers.parsed(text)
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ValueError(f"not a whygrad report of format {FORMAT}")
    try:
        return believed(_run(data))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"a report has no such part: {type(error).__name__}: {error}") from None


def _run(data: dict[str, Any]) -> Run:
    return Run(
        script=data["script"],
        argv=tuple(data.get("argv", ())),
        frameworks=tuple(data.get("frameworks", ())),
        versions=tuple(data.get("versions", {}).items()),
        exit_code=data.get("exit_code", 0),
        exception=_read_raised(data.get("exception")),
        updates=tuple(_read_update(u) for u in data.get("updates", ())),
        findings=tuple(_read_finding(f) for f in data.get("findings", ())),
        notes=tuple(Note(n["text"], _read_site(n.get("site")), n["kind"]) for n in data.get("notes", ())),
        gradient_map=tuple(_read_map(m) for m in data.get("gradient_map", ())),
        roles=tuple(
            Role(r["network"], r["role"], r["why"], _read_site(r.get("site"))) for r in data.get("roles", ())
        ),
        seconds=data.get("seconds", 0.0),
        stopped_early=data.get("stopped_early", False),
        watched=_read_watched(data.get("watched")),
        drawing=json_drawing.read(data.get("drawing"), _read_site),
        sources=tuple(Excerpt(e["file"], e["first"], tuple(e["lines"])) for e in data.get("sources", ())),
        finished=data.get("finished", True),
        started=data.get("started", ""),
        pid=data.get("pid", 0),
        host=data.get("host", ""),
        blind=data.get("blind", ""),
        processes=tuple(_read_process(p) for p in data.get("processes", ())),
        ignored=tuple(
            Ignored(i["rule"], i["title"], _read_site(i.get("site")), i["by"])
            for i in data.get("ignored", ())
        ),
    )


_PLACES = ("step", "loss", "around", "unsynced", "inner", "shared", "written", "divided")


def _process(process: Process) -> dict[str, Any]:
    traces = [
        {**asdict(trace), **{name: _site(getattr(trace, name)) for name in _PLACES}}
        for trace in process.traces
    ]
    return {**asdict(process), "exception": _raised(process.exception), "traces": traces}


def _read_process(data: dict[str, Any]) -> Process:
    raised = _read_raised(data.get("exception"))
    traces = tuple(
        Trace(
            **{
                **one,
                **{name: _read_site(one.get(name)) for name in _PLACES},
                "unreached": tuple(one.get("unreached", ())),
            }
        )
        for one in data.get("traces", ())
    )
    return Process(**{**data, "duty": Duty(data["duty"]), "exception": raised, "traces": traces})


def _watched(watched: Watched | None) -> dict[str, Any] | None:
    if watched is None:
        return None
    return {**asdict(watched), "folder": below(watched.folder), "files": list(watched.files)}


def _read_watched(data: dict[str, Any] | None) -> Watched | None:
    return Watched(**{**data, "files": tuple(data["files"])}) if data else None


def _site(site: Site | None) -> dict[str, Any] | None:
    if site is None:
        return None
    return {"file": below(site.file), "line": site.line, "function": site.function, "code": site.code}


def _read_site(data: dict[str, Any] | None) -> Site | None:
    if not data or data.get("file") is None:
        return None
    return Site(data["file"], data["line"], data.get("function", "<module>"), data.get("code", ""))


def _raised(raised: Raised | None) -> dict[str, Any] | None:
    if raised is None:
        return None
    place = _site(raised.site) or {"file": None, "line": None}
    return {"type": raised.type, "message": raised.message, **place}


def _read_raised(data: dict[str, Any] | None) -> Raised | None:
    return Raised(data["type"], data["message"], _read_site(data)) if data else None


def _update(update: UpdateCount) -> dict[str, Any]:
    return {
        "optimizer": update.optimizer,
        "count": update.count,
        "recorded": update.recorded,
        "networks": list(update.networks),
        "loss": _site(update.loss),
        "silent": list(update.silent),
        "made": _site(update.made),
        "others": update.others,
    }


def _read_update(data: dict[str, Any]) -> UpdateCount:
    networks, loss = tuple(data.get("networks", ())), _read_site(data.get("loss"))
    silent, made = tuple(data.get("silent", ())), _read_site(data.get("made"))
    others = data.get("others", 0)
    return UpdateCount(
        data["optimizer"], data["count"], data.get("recorded", 0), networks, loss, silent, made, others
    )


def _map(found: GradientMap) -> dict[str, Any]:
    return {
        "optimizer": found.optimizer,
        "loss": _site(found.loss),
        "terms": [_term(term) for term in found.terms],
        "unmeasured": found.unmeasured,
    }


def _term(term: LossTerm) -> dict[str, Any]:
    networks = {
        cell.network: {"reached": cell.reached, "share": cell.share, "applied": list(cell.applied)}
        for cell in term.networks
    }
    return {"name": term.name, "site": _site(term.site), "networks": networks}


def _read_map(data: dict[str, Any]) -> GradientMap:
    terms = tuple(_read_term(term) for term in data.get("terms", ()))
    return GradientMap(data["optimizer"], _read_site(data.get("loss")), terms, data.get("unmeasured", ""))


def _read_term(data: dict[str, Any]) -> LossTerm:
    cells = tuple(
        Reached(name, cell["reached"], cell.get("share"), tuple(cell.get("applied", ())))
        for name, cell in data.get("networks", {}).items()
    )
    return LossTerm(data["name"], _read_site(data.get("site")), cells)


def finding(finding: Finding) -> dict[str, Any]:
    """One finding, as it stands in the report."""
    return {
        "rule": finding.rule,
        "severity": str(finding.severity),
        "confidence": str(finding.confidence),
        "title": finding.title,
        "site": _site(finding.site),
        "network": finding.network,
        "subjects": list(finding.subjects),
        "chain": [_step(step) for step in finding.chain],
        "why": finding.why,
        "fix": finding.fix,
        "avoid": finding.avoid,
        "optimizer": finding.optimizer,
        "ranks": finding.ranks,
        "first_update": finding.first_update,
        "updates": finding.updates,
        "patch": _patch(finding.patch),
    }


def _patch(patch: Patch | None) -> dict[str, Any] | None:
    """The proven change; none where nothing was tried, or nothing has proven itself."""
    return {"what": patch.what, "diff": patch.diff, "shown": list(patch.shown)} if patch else None


def _read_patch(data: dict[str, Any] | None) -> Patch | None:
    return Patch(data["what"], data["diff"], tuple(data.get("shown", ()))) if data else None


def _read_finding(data: dict[str, Any]) -> Finding:
    plain = (
        "rule",
        "title",
        "fix",
        "network",
        "why",
        "avoid",
        "optimizer",
        "ranks",
        "first_update",
        "updates",
    )
    return Finding(
        site=_read_site(data.get("site")),
        severity=Severity(data["severity"]),
        confidence=Confidence(data["confidence"]),
        subjects=tuple(data.get("subjects", ())),
        patch=_read_patch(data.get("patch")),
        chain=tuple(Step(s["what"], _read_site(s), _read_mark(s)) for s in data.get("chain", ())),
        **{key: data[key] for key in plain if key in data},
    )


def _step(step: Step) -> dict[str, Any]:
    place = _site(step.site) or {"file": None, "line": None}
    return {"what": step.what, **place, "cut": step.cut, "mark": step.mark}


def _read_mark(step: dict[str, Any]) -> Mark:
    """What stands at the step. Reports from before marks know cuts only; an unknown one is the place."""
    told = step.get("mark", Mark.CUT if step.get("cut") else Mark.NONE)
    return Mark(told) if told in tuple(Mark) else Mark.HERE
