"""Findings in a notebook: the bodies of ``_repr_html_``. Everything that comes from a script is escaped."""

from __future__ import annotations

import re
from html import escape

from whygrad.model import Finding, Note, Run, Severity
from whygrad.reporters import chain, places
from whygrad.reporters.summary import headline, healthy, stopped
from whygrad.rules.words import summed

_COLORS = {Severity.ERROR: "#c62828", Severity.WARNING: "#b26a00", Severity.NOTE: "#1565c0"}
_BOX = "border-left:4px solid {color};padding:.4em 1em;margin:.6em 0;font-size:13px;line-height:1.45"
_PRE = "margin:.5em 0;padding:0;background:none;font-size:12px;line-height:1.4;white-space:pre-wrap"


def html(run: Run) -> str:
    """The whole run."""
    head = healthy(run) if run.clean else headline(run)
    parts = [f"<div><b>whygrad</b>: {_text(head)}</div>"]
    if run.exception and not run.clean:
        parts.append(f"<div>{_text(stopped(run))}</div>")
    parts += [html_finding(finding) for finding in run.findings]
    parts += [_note(note) for note in run.notes]
    return "".join(parts)


def html_finding(finding: Finding) -> str:
    """One finding."""
    color = _COLORS[finding.severity]
    rule = f"{finding.severity}[{escape(finding.rule)}]"
    head = f'<b style="color:{color}">{rule}</b> <b>{_text(finding.title)}</b>'
    body = [_source(finding), _chain(finding), _advice(finding)]
    return f'<div style="{_BOX.format(color=color)}">{head}{"".join(body)}</div>'


def _source(finding: Finding) -> str:
    if finding.site is None:
        return ""
    lines = []
    for line in places.excerpt(finding):
        text = escape(line.text)
        lines.append(
            f"{'>' if line.culprit else ' '} {line.number:>4} | "
            + (f"<b>{text}</b>" if line.culprit else text)
        )
    place = f"<div><code>{escape(places.label(finding.site))}</code></div>"
    return place + (f'<pre style="{_PRE}">{chr(10).join(lines)}</pre>' if lines else "")


def _chain(finding: Finding) -> str:
    rows = []
    for row in chain.links(finding.chain):
        what = f"... {row.hidden} more" if row.hidden else escape(row.what)
        place = f" <small>{escape(places.beside(row.site, finding.site))}</small>" if row.site else ""
        if row.mark:
            what = f'<b style="color:{_COLORS[Severity.ERROR]}">{what} ({row.mark})</b>'
        rows.append(f"<span{' style=opacity:.6' if row.starved else ''}>{what}{place}</span>")
    return f"<div>{' &rarr; '.join(rows)}</div>" if rows else ""


def _advice(finding: Finding) -> str:
    entries = [
        ("who", summed(finding.subjects, finding.network) if finding.subjects else ""),
        ("why", finding.why),
        ("fix", finding.fix),
        ("avoid", finding.avoid),
    ]
    said = "".join(f"<div><b>{name}</b> {_text(text)}</div>" for name, text in entries if text)
    return said + (f'<pre style="{_PRE}">{escape(finding.patch.diff)}</pre>' if finding.patch else "")


def _note(note: Note) -> str:
    where = f" ({places.label(note.site)})" if note.site else ""
    name = "right" if note.kind == "certificate" else "note"
    return f"<div><b>{name}</b> {_text(note.text + where)}</div>"


def _text(text: str) -> str:
    """A sentence, escaped, with its `code` set as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))
