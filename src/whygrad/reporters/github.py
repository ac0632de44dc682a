"""For GitHub Actions: annotations on the lines of a pull request, and a summary of the job."""

from __future__ import annotations

from whygrad.model import Finding, Run, Severity
from whygrad.reporters import markdown, places, uris

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def commands(run: Run, root: str = "") -> str:
    """One workflow command per finding. Files below ``root``, the workspace, are relative to it."""
    return "".join(f"{_command(finding, root or places.START)}\n" for finding in run.findings)


def summary(run: Run) -> str:
    """Markdown for the page of the job."""
    table = markdown.who_trains_whom(run.gradient_map)
    parts = [
        f"## whygrad: {markdown.prose(places.short(run.script))}",
        markdown.verdict(run),
        markdown.findings(run),
        f"### Who trains whom\n\n{table}" if table else "",
        "\n".join(f"- {markdown.prose(note.text)}" for note in run.notes),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _command(finding: Finding, root: str) -> str:
    part = uris.marked(finding)
    file = uris.inside(finding.site.file, root) if finding.site else ""
    where = {}
    if file and part:
        last = max(part.start, part.end - 1)
        where = {"file": file, "line": part.line, "col": part.start, "endColumn": last}
    fields = {**where, "title": f"{finding.rule}: {finding.title}"}
    listed = ",".join(f"{name}={_property(str(value))}" for name, value in fields.items())
    return f"::{_COMMANDS[finding.severity]} {listed}::{_data(_message(finding, bool(file)))}"


def _message(finding: Finding, placed: bool) -> str:
    away = f"at {places.label(finding.site)}" if finding.site and not placed else ""
    proven = finding.patch.diff.rstrip() if finding.patch else ""
    said = [("", away), ("", finding.why), ("Fix: ", finding.fix), ("Avoid: ", finding.avoid)]
    said.append(("Proven by whygrad fix:\n", proven))
    return "\n".join(f"{name}{text}" for name, text in said if text) or finding.title


def _data(text: str) -> str:
    """The runner reads a command up to the end of the line, and undoes this."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """In front of the message, two more characters mean something."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
