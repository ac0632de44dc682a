"""SARIF 2.1.0, which code scanning reads: a pure function of the finished run."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

from whygrad import __version__
from whygrad.model import Finding, Note, Run, Severity, Site, source
from whygrad.model.patch import Patch
from whygrad.reporters import chain, fingerprints, places, uris
from whygrad.reporters.diff_reading import Replaced, replaced
from whygrad.reporters.sarif_rules import INDEX, rules
from whygrad.reporters.uris import Region

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ROOT = "%SRCROOT%"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}
_LINK = re.compile(r"\[(?=[^\]]*\]\()")  # would be taken for a link


def render(run: Run, root: str = "") -> str:
    """The log. Files below ``root`` (the directory of the repository, if it is known) are relative to it."""
    return json.dumps(document(run, root or places.START), indent=1, ensure_ascii=False) + "\n"


def document(run: Run, root: str) -> dict[str, Any]:
    """The same as plain data."""
    written = _Log(run, root)
    driver = {"name": "whygrad", "semanticVersion": __version__, "rules": rules()}
    log = {
        "tool": {"driver": driver},
        "automationDetails": {"id": f"whygrad/{_script(run)}/"},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {ROOT: {"uri": _folder(root)}},
        "invocations": [written.invocation()],
        "results": [written.result(finding) for finding in run.findings],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [log]}


class _Log:
    """The parts that need to know where files are."""

    def __init__(self, run: Run, root: str) -> None:
        self._run, self._root = run, root
        self._hashes: dict[str, list[str]] = {}

    def result(self, finding: Finding) -> dict[str, Any]:
        """One finding."""
        links = chain.links(finding.chain, most=1000)
        flow = list(_placed(links, finding.site))
        home = self._home(finding)
        return {
            "ruleId": finding.rule,
            "ruleIndex": INDEX.get(finding.rule, -1),
            "level": _LEVELS[finding.severity],
            "message": {"text": _message(finding, away=finding.site is not None and home != finding.site)},
            "locations": [self._location(home, uris.marked(finding) if home == finding.site else None)],
            "relatedLocations": [
                {"id": n, **self._location(site, None, what)} for n, (what, site, _) in enumerate(flow, 1)
            ],
            "codeFlows": [{"threadFlows": [{"locations": [self._passed(*step) for step in flow]}]}]
            if flow
            else [],
            **({"fixes": [self._fix(finding.patch)]} if finding.patch else {}),
            "partialFingerprints": self._fingerprints(finding, home),
            "properties": {
                "confidence": str(finding.confidence),
                "network": finding.network,
                "parameters": list(finding.subjects),
                "optimizer": finding.optimizer,
                "firstUpdate": finding.first_update,
                "updates": finding.updates,
                "fix": finding.fix,
            },
        }

    def _fix(self, patch: Patch) -> dict[str, Any]:
        """The proven change, as code scanning can apply it."""
        changes = [
            {
                "artifactLocation": self._artifact(Site(file, 1)),
                "replacements": list(map(_replacement, parts)),
            }
            for file, parts in replaced(patch.diff).items()
        ]
        return {"description": {"text": _text(patch.what)}, "artifactChanges": changes}

    def invocation(self) -> dict[str, Any]:
        """How the script ran and ended, and what there is to say beside the findings."""
        run = self._run
        ours = any(note.kind == "internal" for note in run.notes)
        told = [self._notification(note) for note in run.notes]
        found = {
            "executionSuccessful": run.finished and not ours,
            "commandLine": shlex.join(["python", run.script, *run.argv]),
            "arguments": [run.script, *run.argv],
            "exitCode": run.exit_code,
            "workingDirectory": {"uri": _folder(places.START)},
            "toolExecutionNotifications": [*self._raised(), *told],
            **_times(run),
        }
        if run.pid:
            found["processId"] = run.pid
        return found

    def _raised(self) -> list[dict[str, Any]]:
        raised = self._run.exception
        if raised is None:
            return []
        text = f"the script stopped with {raised.type}: {raised.message}".rstrip(": \n")
        places_ = [self._location(raised.site)] if raised.site else []
        return [
            {
                "level": "warning",
                "message": {"text": text},
                "exception": {"kind": raised.type, "message": raised.message},
                "locations": places_,
            }
        ]

    def _notification(self, note: Note) -> dict[str, Any]:
        level = "error" if note.kind == "internal" else "note"
        locations = [self._location(note.site)] if note.site else []
        return {"level": level, "message": {"text": _text(note.text)}, "locations": locations}

    def _home(self, finding: Finding) -> Site:
        """Where to show it: its line, or if that is in nobody's repository the nearest that is."""
        sites = [finding.site, *(step.site for step in finding.chain)]
        known = [site for site in sites if site is not None and uris.inside(site.file, self._root)]
        return known[0] if known else finding.site or Site(self._run.script, 1)

    def _passed(self, what: str, site: Site, cut: bool) -> dict[str, Any]:
        location = self._location(site, None, what)
        return {"location": location, "importance": "essential" if cut else "important"}

    def _location(self, site: Site, region: Region | None = None, what: str = "") -> dict[str, Any]:
        part = region or uris.region(site)
        shown = {
            "startLine": part.line,
            "startColumn": part.start,
            "endLine": part.line,
            "endColumn": part.end,
            **({"snippet": {"text": part.text}} if part.text else {}),
        }
        where = {"artifactLocation": self._artifact(site), "region": shown}
        found: dict[str, Any] = {"physicalLocation": where}
        if site.function not in ("", "<module>"):
            found["logicalLocations"] = [{"name": site.function, "kind": "function"}]
        return {**found, "message": {"text": _text(what)}} if what else found

    def _artifact(self, site: Site) -> dict[str, Any]:
        near = uris.inside(site.file, self._root)
        if near:
            return {"uri": quote(near), "uriBaseId": ROOT}
        path = uris.absolute(site.file)
        return {"uri": Path(path).as_uri() if path else quote(site.file)}

    def _fingerprints(self, finding: Finding, home: Site) -> dict[str, str]:
        path = uris.absolute(home.file)
        near = uris.inside(home.file, self._root) or Path(path).name
        hashes = self._lines(home.file)
        own = fingerprints.cause_hash(finding, near)
        line = hashes[home.line - 1] if 0 < home.line <= len(hashes) else own
        return {"primaryLocationLineHash": line, "whygradCause/v1": own}

    def _lines(self, file: str) -> list[str]:
        if file not in self._hashes:
            text = _whole(file)
            self._hashes[file] = fingerprints.line_hashes(text) if text else []
        return self._hashes[file]


def _replacement(part: Replaced) -> dict[str, Any]:
    """Whole lines: from the first of them to the one below the last."""
    region = {"startLine": part.line, "startColumn": 1, "endLine": part.line + part.gone, "endColumn": 1}
    return {"deletedRegion": region, "insertedContent": {"text": part.text}}


def _whole(name: str) -> str:
    """A file to the letter, as code scanning will see it; of a recording, what it brings along."""
    if source.recorded() is not None:
        return "".join(source.lines(name))
    try:
        with open(uris.absolute(name), encoding="utf-8", errors="replace", newline="") as file:
            return file.read()
    except OSError:
        return ""


def _placed(links: Iterable[chain.Link], home: Site | None) -> Iterable[tuple[str, Site, bool]]:
    """Every step with a place; one that has none stands where the next one does, or the one before."""
    rows = list(links)
    before = home
    for n, row in enumerate(rows):
        site = row.site or next((r.site for r in rows[n:] if r.site), before)
        before = site
        if site is not None:
            yield row.what + (f" ({row.mark})" if row.mark else ""), site, bool(row.mark)


def _message(finding: Finding, away: bool) -> str:
    """One paragraph: what, why, and what to write instead."""
    place = f" ({places.label(finding.site)})" if away and finding.site else ""
    sure = "" if finding.confidence == "certain" else f" This is {finding.confidence}, not certain."
    parts = [f"{_sentence(finding.title + place)}{sure}"]
    parts += [_sentence(finding.why)] if finding.why else []
    parts += [f"Fix: {_sentence(finding.fix)}"] if finding.fix else []
    parts += [f"Avoid: {_sentence(finding.avoid)}"] if finding.avoid else []
    return _text(" ".join(parts))


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _text(text: str) -> str:
    return _LINK.sub(r"\\[", text)


def _script(run: Run) -> str:
    """What tells the logs of several scripts of one repository apart."""
    return places.below(run.script).replace("\\", "/").strip("/") or "script"


def _folder(path: str) -> str:
    return Path(path).absolute().as_uri().rstrip("/") + "/"


def _times(run: Run) -> dict[str, str]:
    try:
        start = datetime.fromisoformat(run.started).astimezone(UTC)
    except ValueError:
        return {}
    end = start + timedelta(seconds=run.seconds)
    return {"startTimeUtc": f"{start:%Y-%m-%dT%H:%M:%SZ}", "endTimeUtc": f"{end:%Y-%m-%dT%H:%M:%SZ}"}
