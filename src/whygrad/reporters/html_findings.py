"""Findings as cards: the sentence, the source with the culprit and the chain in it, the fix."""

from __future__ import annotations

import re
from html import escape

from whygrad.model import Excerpt, Finding, Mark, Run, Site
from whygrad.reporters import chain, places
from whygrad.reporters.explain import sections
from whygrad.reporters.summary import sufferers
from whygrad.rules.table import RULES

_AROUND = 3
_BESIDE = 1  # lines shown around a line of the chain


def text(sentence: str) -> str:
    """A sentence, escaped, with its `code` set as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(sentence))


def cards(run: Run) -> str:
    """All findings, the gravest first."""
    if not run.findings:
        return '<section id="findings"><h2>Findings</h2><p class="soft">None.</p></section>'
    found = [_card(n, finding, run.sources) for n, finding in enumerate(run.findings, start=1)]
    return f'<section id="findings"><h2>Findings</h2>{"".join(found)}</section>'


def _card(number: int, finding: Finding, sources: tuple[Excerpt, ...]) -> str:
    rule = escape(finding.rule)
    head = (
        f'<header><h3><span class="badge">{finding.severity}</span>{text(finding.title)}</h3>'
        f'<p class="meta"><a href="#rule-{rule}">{rule}</a> · {text(sufferers(finding))}</p></header>'
    )
    advice = [("why", finding.why), ("fix", finding.fix), ("avoid", finding.avoid)]
    rows = "".join(f'<dt class="{name}">{name}</dt><dd>{text(said)}</dd>' for name, said in advice if said)
    rows += _proven(finding)
    body = f'{_source(finding, sources)}{_way(finding)}<dl class="advice">{rows}</dl>'
    return (
        f'<article class="card {finding.severity}" id="finding-{number}" tabindex="-1">'
        f'{head}<div class="body">{body}</div></article>'
    )


def _proven(finding: Finding) -> str:
    """The change that has proven itself, with a button that copies it."""
    if finding.patch is None:
        return ""
    button = '<button type="button" class="copy">copy</button>'
    said = f"{text(finding.patch.what)} {button}<pre>{escape(finding.patch.diff)}</pre>"
    return f'<dt class="fix">proven</dt><dd class="patch">{said}</dd>'


def _source(finding: Finding, sources: tuple[Excerpt, ...]) -> str:
    """The culprit's surroundings; lines of the chain in the same file are marked, however far away."""
    site = finding.site
    if site is None:
        return ""
    lines = _lines(site, sources)
    told = _told(finding, site)
    wanted = set(range(site.line - _AROUND, site.line + _AROUND + 1))
    for number in told:
        wanted |= set(range(number - _BESIDE, number + _BESIDE + 1))
    shown = [number for number in sorted(wanted) if number in lines]
    mark = next((line.mark for line in places.excerpt(finding, 0) if line.culprit), None)
    items, before = [], None
    for number in shown:
        if before is not None and number > before + 1:
            items.append('<li class="gap">⋮</li>')
        items.append(_line(number, lines[number], site, told.get(number), mark))
        before = number
    where = f" in {site.function}" if site.function not in ("", "<module>") else ""
    return (
        f'<div class="source"><div class="file">{escape(places.label(site) + where)}</div>'
        f"<ol>{''.join(items)}</ol></div>"
    )


def _lines(site: Site, sources: tuple[Excerpt, ...]) -> dict[int, str]:
    found = {site.line: site.code}
    for part in sources:
        if part.file == site.file:
            found.update({part.first + n: line for n, line in enumerate(part.lines)})
    return found


def _told(finding: Finding, site: Site) -> dict[int, str]:
    """Line -> what happens there on the way from the parameter to the loss."""
    found: dict[int, str] = {}
    for step in finding.chain:
        if step.site is not None and step.site.file == site.file and step.site.line != site.line:
            found.setdefault(step.site.line, _beside(step.what, step.site.code))
    return found


def _beside(what: str, code: str) -> str:
    """What a step says beyond the line that it stands beside."""
    if code and what.startswith(code):
        return what[len(code) :].lstrip(": ")
    return "" if what in code else what


def _line(number: int, code: str, site: Site, says: str | None, mark: tuple[int, int] | None) -> str:
    kind = "culprit" if number == site.line else "chain" if says is not None else ""
    shown = _marked(code, mark) if kind == "culprit" else escape(code)
    said = f'<span class="says">{escape(says)}</span>' if says else ""
    label = ' aria-label="the culprit line"' if kind == "culprit" else ""
    return f'<li class="{kind}"{label}><span class="n">{number}</span><span>{shown}</span>{said}</li>'


def _marked(code: str, mark: tuple[int, int] | None) -> str:
    """The line with the cut underlined; ``mark`` counts from the first character that is no space."""
    if mark is None:
        return escape(code)
    indent = len(code) - len(code.lstrip())
    start, end = indent + mark[0], indent + mark[0] + mark[1]
    return f"{escape(code[:start])}<mark>{escape(code[start:end])}</mark>{escape(code[end:])}"


def _way(finding: Finding) -> str:
    rows = []
    for row in chain.links(finding.chain):
        what = f"… {row.hidden} more" if row.hidden else row.what
        place = f" <small>{escape(places.beside(row.site, finding.site))}</small>" if row.site else ""
        kind = "cut" if row.mark else "starved" if row.starved else ""
        cut = "✂ " if row.mark is Mark.CUT else "✗ " if row.mark else ""
        rows.append(f'<li class="{kind}"><span class="step">{cut}{escape(what)}{place}</span></li>')
    return f'<ol class="way" aria-label="from the parameter to the loss">{"".join(rows)}</ol>' if rows else ""


def rule_pages(run: Run) -> str:
    """What the rules of the findings are, with an example: the page is whole without a network."""
    slugs = [slug for slug in dict.fromkeys(f.rule for f in run.findings) if slug in RULES]
    found = []
    for slug in slugs:
        parts = []
        for name, said in sections(RULES[slug].page):
            code = name.startswith(("Example", "Use instead"))
            body = f"<pre>{escape(said)}</pre>" if code else f"<p>{text(said)}</p>"
            parts.append((f"<h4>{escape(name)}</h4>" if name else "") + body)
        summary = f"<summary>{escape(slug)}: {text(RULES[slug].page.summary)}</summary>"
        found.append(f'<details class="rule" id="rule-{escape(slug)}">{summary}{"".join(parts)}</details>')
    return f'<section id="rules"><h2>The rules behind it</h2>{"".join(found)}</section>' if found else ""
