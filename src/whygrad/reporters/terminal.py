"""What was found, for the terminal: a pure function of the finished run."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from whygrad.model import Finding, Note, Run, Severity, Verdict
from whygrad.reporters import chain, gradient_map, places
from whygrad.reporters.style import Style, fit, wrap
from whygrad.reporters.summary import headline, healthy, stopped, sufferers

_INDENT = "    "
_LABEL = 7  # the width of "avoid" and its neighbours


def render(run: Run, color: bool = False, width: int = 88) -> str:
    """The whole report; one line for a healthy run."""
    style = Style(color)
    found = [f for f in run.findings if f.severity is not Severity.NOTE]
    remarks = [f for f in run.findings if f.severity is Severity.NOTE]
    parts: list[Iterable[str]] = []
    if found:
        parts.append(_head(run, style, width))
    else:
        role = "good" if run.healthy and run.verdict is not Verdict.NOT_JUDGED else "bold"
        parts.append(_wrapped("whygrad: ", role, healthy(run), style, width))
    parts.extend(_finding(finding, style, width) for finding in [*found, *remarks])
    table = gradient_map.lines(run.gradient_map, style, width)
    if table:
        parts.append(table)
    if run.notes:
        parts.append(_notes(run.notes, style, width))
    if found:
        parts.append(_next(run, found, style))
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def render_finding(finding: Finding, color: bool = False, width: int = 88) -> str:
    """One finding alone, as ``whygrad.explain`` shows it."""
    return "\n".join(_finding(finding, Style(color), width)) + "\n"


def _head(run: Run, style: Style, width: int) -> list[str]:
    lines = [style.paint("dim", "─" * width)]
    lines += _wrapped("whygrad: ", "bold", headline(run), style, width)
    if run.exception:
        lines += [style.inline(line) for line in wrap(stopped(run), width)]
    return lines


def _finding(finding: Finding, style: Style, width: int) -> list[str]:
    blocks = [
        _title(finding, style, width),
        _source(finding, style, width),
        _chain(finding, style, width),
        _advice(finding, style, width),
    ]
    lines: list[str] = []
    for block in blocks:
        lines += ["", *block] if lines and block else block
    return lines


def _title(finding: Finding, style: Style, width: int) -> list[str]:
    head = f"{finding.severity}[{finding.rule}] "
    first, *more = wrap(head + finding.title, width, _INDENT)
    lines = [style.paint(str(finding.severity), head.strip()) + " " + style.paint("bold", first[len(head) :])]
    return lines + [_INDENT + style.paint("bold", line.strip()) for line in more]


def _source(finding: Finding, style: Style, width: int) -> list[str]:
    if finding.site is None:
        return []
    function = finding.site.function
    place = "" if function in ("", "<module>") else style.paint("dim", f", in {function}")
    lines = [f"{_INDENT}{style.paint('code', places.label(finding.site))}{place}"]
    shown = places.excerpt(finding)
    digits = max((len(str(line.number)) for line in shown), default=0)
    for line in shown:
        text = places.clipped(line.text, width - len(_INDENT) - digits - 5)
        arrow = style.paint("cut", ">") if line.culprit else " "
        number = style.paint("dim", f"{line.number:>{digits}} │")
        lines.append(
            f"{_INDENT}{arrow} {number} {style.paint('bold', text) if line.culprit else text}".rstrip()
        )
        if line.mark and line.mark[0] + line.mark[1] <= len(text):
            under = " " * line.mark[0] + style.paint("cut", "^" * line.mark[1])
            lines.append(f"{_INDENT}  {style.paint('dim', ' ' * digits + ' │')} {under}")
    return lines


def _chain(finding: Finding, style: Style, width: int) -> list[str]:
    rows = chain.links(finding.chain)
    labels = [_clipped(places.beside(row.site, finding.site), width // 2) for row in rows]
    room = (
        width
        - len(_INDENT)
        - 3
        - max(map(len, labels), default=0)
        - max((len(row.mark) + 2 for row in rows), default=0)
    )
    texts = [f"... {row.hidden} more" if row.hidden else fit(row.what, max(room, 8)) for row in rows]
    column = max(map(len, texts), default=0)
    lines = []
    for n, (row, text, label) in enumerate(zip(rows, texts, labels, strict=True)):
        mark = _mark(row, n == 0, n == len(rows) - 1, style)
        tail = style.paint("cut", f"  {row.mark}") if row.mark and label else ""
        space = " " * (column - len(text))
        lines.append(f"{_INDENT}{mark} {text}{space}  {style.paint('dim', label)}{tail}".rstrip())
    return lines


def _clipped(label: str, width: int) -> str:
    """A place, shortened at its beginning: the file's name and the line are what one needs."""
    return label if len(label) <= width else "..." + label[len(label) - width + 3 :]


def _mark(row: chain.Link, first: bool, last: bool, style: Style) -> str:
    """The picture's left edge: solid where gradient flows from the loss, dotted where none arrives."""
    if row.mark:
        return style.paint("cut", "✗")
    if first:
        return style.paint("cut", "○") if row.starved else style.paint("good", "●")
    if row.starved:
        return style.paint("dim", "┊")
    return style.paint("good", "●" if last else "│")


def _advice(finding: Finding, style: Style, width: int) -> list[str]:
    entries = [
        ("who", "dim", sufferers(finding)),
        ("why", "bold", finding.why),
        ("fix", "good", finding.fix),
        ("avoid", "warning", finding.avoid),
    ]
    lines = []
    for name, role, text in entries:
        if text:
            lines += _wrapped(_INDENT + name.ljust(_LABEL), role, text, style, width)
    return [*lines, *_proven(finding, style)]


def _proven(finding: Finding, style: Style) -> list[str]:
    """The change that has proven itself."""
    if finding.patch is None:
        return []
    head = f"{_INDENT}{style.paint('good', 'proven')} {style.inline(finding.patch.what)}"
    return [head, "", *(f"{_INDENT}{line}".rstrip() for line in finding.patch.diff.splitlines())]


def _notes(notes: Iterable[Note], style: Style, width: int) -> list[str]:
    names = {"certificate": ("right", "good"), "internal": ("whygrad", "warning")}
    lines = []
    for note in notes:
        name, role = names.get(note.kind, ("note", "note"))
        told = note.site is None or f":{note.site.line}" in note.text
        where = "" if told or note.site is None else f" ({places.label(note.site)})"
        lines += _wrapped(name.ljust(_LABEL + 1), role, note.text + where, style, width)
    return lines


def _next(run: Run, found: list[Finding], style: Style) -> list[str]:
    rules = list(dict.fromkeys(f.rule for f in found))
    commands = [("read more" if rule == rules[0] else "", f"whygrad explain {rule}") for rule in rules[:3]]
    if run.script.endswith(".py"):
        program = shlex.join([places.short(run.script), *run.argv])
        commands += [("try a fix", f"whygrad fix {program}"), ("after a fix", f"whygrad check {program}")]
    return [
        f"{style.paint('dim', name.ljust(12))} {style.paint('code', command)}" for name, command in commands
    ]


def _wrapped(head: str, role: str, text: str, style: Style, width: int) -> list[str]:
    """A label and its text beside it."""
    first, *more = wrap(text, width - len(head))
    lines = [style.paint(role, head.rstrip()) + " " * (len(head) - len(head.rstrip())) + style.inline(first)]
    return lines + [" " * len(head) + style.inline(line) for line in more]
