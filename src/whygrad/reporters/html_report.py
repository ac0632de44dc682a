"""One HTML file to look at: no network, opens from disk, can be mailed.

Everything that comes from the user's program is escaped here or set as text by the page's scripts. The
words (verdict, findings, tables) are in the file as they are; scripts draw the flow picture and the charts.
"""

from __future__ import annotations

import json
import shlex
from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from html import escape
from importlib import resources
from typing import Any

from whygrad import __version__
from whygrad.model import Run, Series, Severity, Verdict
from whygrad.reporters import html_numbers, json_report
from whygrad.reporters.html_findings import cards, rule_pages
from whygrad.reporters.html_sections import flow_section, matrix, observed, time_section
from whygrad.reporters.summary import headline, healthy, stopped
from whygrad.summaries.histograms import Pictured

_SCRIPTS = ("vendor/uPlot.iife.min.js", "vendor/dagre.min.js", "shared.js", "flow.js", "time.js", "start.js")
_STYLES = ("vendor/uPlot.min.css", "report.css")
_POLICY = (
    "default-src 'none'; script-src {scripts}; style-src {styles}; img-src data:; base-uri 'none'; "
    "connect-src {asks}; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)


def render(
    run: Run,
    series: Sequence[Series] = (),
    pictures: Sequence[Pictured] = (),
    live: tuple[str, str] | None = None,
) -> str:
    """The whole file. A ``live`` one has a bar, and a script that asks the page's server for a newer one."""
    bar, *more = live or ("",)
    names = (*_SCRIPTS, *more)
    numbers = html_numbers.packed(series)
    data = _data(run, numbers.meta, series, pictures)
    body = [
        _top(run, bool(live)),
        "<main>",
        bar,
        '<p id="trouble" class="verdict warning" role="alert" hidden></p>',
        cards(run),
        flow_section(run),
        matrix(run),
        time_section(run, bool(series), pictures),
        observed(run),
        rule_pages(run),
        "</main>",
        f"<footer>Made by whygrad {escape(__version__)}. This page loads nothing from a network.</footer>",
        f'<script type="application/json" id="data">{_embedded(data)}</script>',
        f'<script type="application/octet-stream" id="numbers">{numbers.text}</script>',
        *(f"<script>{asset(name)}</script>" for name in names),
    ]
    styles, scripts = ([asset(name) for name in some] for some in (_STYLES, names))
    return "\n".join([head(run.script, styles, scripts, bool(live)), *body, "</body></html>", ""])


def head(title: str, styles: Sequence[str], scripts: Sequence[str] = (), asks: bool = False) -> str:
    """Everything before the body; the page runs nothing but these very scripts, and loads nothing.

    One that ``asks`` may ask its own server whether there is something newer.
    """
    asked = "'self'" if asks else "'none'"
    policy = _POLICY.format(scripts=_allowed(scripts), styles=_allowed(styles), asks=asked)
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{escape(title)} · whygrad</title><link rel="icon" href="data:,">'
        f"{''.join(f'<style>{style}</style>' for style in styles)}</head><body>"
    )


def _allowed(texts: Sequence[str]) -> str:
    """These elements of the page, to the letter, by their hashes."""
    hashes = (b64encode(sha256(text.encode()).digest()).decode() for text in texts)
    return " ".join(f"'sha256-{found}'" for found in hashes) or "'none'"


def _top(run: Run, live: bool = False) -> str:
    grave = bool(run.at(Severity.ERROR))
    judged = run.healthy and run.verdict is not Verdict.NOT_JUDGED
    kind = "error" if grave else "warning" if not run.clean else "" if judged else "unknown"
    sentence = healthy(run) if run.clean else headline(run)
    more = [stopped(run)] if run.exception and not run.clean else []
    if not run.finished and not live:
        more.append("The script had not ended when this was written: it was killed, or is still running.")
    command = shlex.join([run.script, *run.argv])
    said = "".join(f"<p>{escape(text)}</p>" for text in dict.fromkeys(more) if text and text != sentence)
    links = [("findings", "Findings"), ("flow", "Flow"), ("who", "Who trains whom"), ("time", "Over time")]
    links += [("observed", "What was observed")]
    jumps = "".join(f'<a href="#{name}">{text}</a>' for name, text in links)
    return (
        f'<header class="top"><div class="brand">whygrad</div><div class="verdict {kind}">'
        f'<h1>{escape(sentence)}</h1>{said}</div><p class="meta mono">{escape(command)}</p>'
        f'<nav class="jump" aria-label="parts of this page">{jumps}</nav></header>'
    )


def _data(
    run: Run, time: dict[str, Any] | None, series: Sequence[Series], pictures: Sequence[Pictured]
) -> dict[str, Any]:
    report = json.loads(json_report.render(run))
    kept = {name: report[name] for name in ("drawing", "findings", "roles")}
    _measure(report["drawing"], series)
    shown = [
        {"variable": p.variable, "of": p.of, "steps": p.steps, "limits": p.limits, "counts": p.counts}
        for p in pictures
    ]
    return {**kept, "time": time, "histograms": shown}


def _measure(drawing: dict[str, Any], series: Sequence[Series]) -> None:
    """Compiled code shows its gradients to the summaries alone: take the last ones from there."""
    largest: dict[str, float] = {}
    for one in series:
        if one.quantity in ("gradients/min", "gradients/max") and one.steps and one.mean[-1] == one.mean[-1]:
            largest[one.variable] = max(largest.get(one.variable, 0.0), abs(one.mean[-1]))
    for layer in drawing["layers"]:
        for weight in layer["weights"]:
            if not weight["seen"] and weight["name"] in largest:
                weight.update(gradient=largest[weight["name"]], seen=True)


def _embedded(data: Any) -> str:
    """JSON that no text in it can end: a script element ends at the first ``</``."""
    text = json.dumps(_finite(data), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character, code in (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026"), ("\u2028", "\\u2028")):
        text = text.replace(character, code)
    return text.replace("\u2029", "\\u2029")


def _finite(data: Any) -> Any:
    """JSON has no NaN and no Inf."""
    if isinstance(data, float):
        return data if data - data == 0 else None
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    return [_finite(value) for value in data] if isinstance(data, (list, tuple)) else data


@cache
def asset(name: str) -> str:
    """A file of the page."""
    return (resources.files("whygrad.reporters") / "templates" / name).read_text(encoding="utf-8")
