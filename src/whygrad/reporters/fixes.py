"""What ``whygrad fix`` did, for people and for programs: pure functions."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict, replace
from typing import Any

from whygrad import __version__, strangers
from whygrad.model import Finding, Run
from whygrad.model.believing import believed
from whygrad.model.fix import Fixed, Treated
from whygrad.model.patch import Patch, Trained
from whygrad.reporters import places
from whygrad.reporters.diff_reading import replaced
from whygrad.reporters.style import Style, wrap

FORMAT = 1


def as_json(told: Treated) -> str:
    """For programs; the diff is as ``git apply`` takes it."""
    document = {
        "format": FORMAT,
        "whygrad": __version__,
        "script": told.script,
        "argv": list(told.argv),
        "exit_code": told.exit_code,
        "before": told.before,
        "verdict": told.verdict,
        "trouble": told.trouble,
        "applied": told.applied,
        "runs": told.runs,
        "seconds": round(told.seconds, 3),
        "files": list(told.files),
        "diff": told.diff,
        "fixes": [_fix(fixed) for fixed in told.fixes],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _fix(fixed: Fixed) -> dict[str, Any]:
    finding = fixed.finding
    return {
        "rule": finding.rule,
        "title": finding.title,
        "severity": str(finding.severity),
        "network": finding.network,
        "file": finding.site.file if finding.site else None,
        "line": finding.site.line if finding.site else None,
        "proven": bool(fixed.patches),
        "patches": [
            {
                "what": patch.what,
                "diff": patch.diff,
                "shown": list(patch.shown),
                "trained": [asdict(cell) for cell in patch.trained],
            }
            for patch in fixed.patches
        ],
        "tried": [{"what": what, "why_not": why} for what, why in fixed.tried],
        "untried": fixed.untried,
    }


def patched(run: Run, text: str | bytes) -> Run:
    """The run with the proven changes beside their findings: ``text`` is what ``as_json`` has written."""
    proven: dict[tuple[str, str | None, int | None], Patch] = {}
    changed: set[str] = set()  # a later change of the same file is one of the changed file, not of this run's
    for fix in strangers.parsed(text).get("fixes", ()):
        for patch in fix["patches"][:1]:
            told = Patch(patch["what"], patch["diff"], tuple(patch["shown"]))
            if not changed & {*replaced(told.diff)}:
                proven[fix["rule"], fix["file"], fix["line"]] = told
            changed |= {*replaced(told.diff)}
    return believed(replace(run, findings=tuple(_with(finding, proven) for finding in run.findings)))


def _with(finding: Finding, proven: dict[tuple[str, str | None, int | None], Patch]) -> Finding:
    site = finding.site
    patch = proven.get((finding.rule, places.below(site.file) if site else None, site.line if site else None))
    return replace(finding, patch=patch) if patch else finding


def as_text(told: Treated, color: bool = False, width: int = 88, quiet: bool = False) -> str:
    """For the terminal: every finding with its proven diff, or with what was tried."""
    style = Style(color)
    if told.trouble:
        return f"whygrad: {told.script} could not be checked: {told.trouble}\n"
    parts = [_finding(fixed, style, width) for fixed in told.fixes if fixed.patches or not quiet]
    parts.append(_end(told, style, width))
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def _finding(fixed: Fixed, style: Style, width: int) -> list[str]:
    finding = fixed.finding
    where = f" ({places.label(finding.site)})" if finding.site else ""
    head = f"{finding.severity}[{finding.rule}] "
    first, *more = wrap(head + finding.title + where, width, "    ")
    lines = [style.paint(str(finding.severity), head.strip()) + " " + first[len(head) :], *more]
    if not fixed.patches:
        return [*lines, *_in_vain(fixed, style, width)]
    for number, patch in enumerate(fixed.patches):
        lines += _patch(patch, "proven" if not number else "or, proven as well", style, width)
    return lines


def _patch(patch: Patch, head: str, style: Style, width: int) -> list[str]:
    lines = ["", f"{style.paint('good', head)}: {style.inline(patch.what)}", ""]
    lines += [_painted(line, style) for line in patch.diff.splitlines()]
    lines.append("")
    for sentence in patch.shown:
        lines += wrap(f"    {sentence}", width, "    ")
    lines += [f"    {_cell(cell)}" for cell in patch.trained]
    return lines


def _cell(cell: Trained) -> str:
    return f"{cell.term} :{cell.line} trains {cell.network}: {cell.before} before, {cell.after} now"


def _painted(line: str, style: Style) -> str:
    role = {"+": "good", "-": "cut", "@": "code"}.get(line[:1], "")
    return style.paint(role, line) if role and not line.startswith(("+++", "---")) else line


def _in_vain(fixed: Fixed, style: Style, width: int) -> list[str]:
    if fixed.untried:
        return ["", *wrap(f"    not tried: {fixed.untried}", width, "    "), *_advice(fixed, style, width)]
    lines = ["", "    nothing that was tried has proven itself:"]
    for what, why in fixed.tried:
        lines += [style.inline(line) for line in wrap(f"    - {what}: {why}", width, "      ")]
    return lines + _advice(fixed, style, width)


def _advice(fixed: Fixed, style: Style, width: int) -> list[str]:
    text = wrap(f"    advice, not tried: {fixed.finding.fix}", width, "    ")
    return [style.inline(line) for line in text] if fixed.finding.fix else []


def _end(told: Treated, style: Style, width: int) -> list[str]:
    """How many, what it is now, and what to type next."""
    command = shlex.join([places.short(told.script), *told.argv])
    many = f"{told.runs} run{'s' if told.runs != 1 else ''} of the program, {told.seconds:.1f} s"
    if not told.fixes:
        return [f"whygrad: nothing to fix in {told.script}: {told.before} ({many})"]
    text = f"{told.proven} of {len(told.fixes)} findings have a proven change"
    if len(told.fixes) == 1:
        text = "the change is proven" if told.proven else "no change has proven itself"
    now = f"; with it, {told.verdict} in a check" if told.proven else ""
    lines = [*wrap(f"whygrad: {text}{now}", width), f"{style.paint('dim', 'it took    ')}  {many}"]
    if told.applied:
        return [*lines, f"written to {', '.join(told.files)}"]
    if told.proven:
        lines.append(
            f"{style.paint('dim', 'to write it')}  {style.paint('code', f'whygrad fix --apply {command}')}"
        )
    return lines
