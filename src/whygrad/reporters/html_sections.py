"""The other parts of the page: flow picture, who trains whom, time, what was observed."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from whygrad.model import Note, Process, Reached, Run
from whygrad.model.frameworks import FRAMEWORKS, title
from whygrad.reporters import places, who
from whygrad.reporters.html_findings import text
from whygrad.reporters.summary import grouped, stepping
from whygrad.summaries.histograms import Pictured

_MOST_PROCESSES = 64  # that have a row of their own
_NO_SCRIPT = "<noscript><p>This part needs JavaScript.</p></noscript>"


def flow_section(run: Run) -> str:
    """The place for the flow picture, and the same in words for those who cannot see it."""
    if not run.drawing.layers:
        why = "no loss was differentiated" if not any(u.recorded for u in run.updates) else "nothing to draw"
        return f'<section id="flow"><h2>Flow</h2><p class="soft">No picture: {why}.</p></section>'
    more = (
        f'<p class="soft">Not drawn: {run.drawing.more} more places that differentiate.</p>'
        if run.drawing.more
        else ""
    )
    return (
        '<section id="flow"><h2>Flow: where gradient comes from</h2>'
        '<div class="controls"><button type="button" id="flow-all">open or close all networks</button>'
        '<span class="soft">Click a network to see its layers; hover or focus a line to see the '
        "operations on it.</span></div>"
        f'<div class="scroll" id="flow-picture" tabindex="0" role="region" aria-label="flow picture">'
        f'</div>{_NO_SCRIPT}<div class="legend"><span>Data runs from the networks to the losses; an arrow '
        "is gradient that comes back.</span>"
        '<span>largest element of the gradient 1e-7<span class="ramp" id="ramp"></span>10</span>'
        '<span><svg width="34" height="8"><path d="M0 4H34" stroke="currentColor" stroke-dasharray="5 5"/>'
        "</svg> stopped, and meant to be</span>"
        '<span class="red"><svg width="34" height="8"><path d="M0 4H34" '
        'stroke="currentColor" stroke-width="2.4" stroke-dasharray="7 5"/></svg> ✂ cut by mistake</span>'
        f'</div>{more}<div id="flow-says" aria-live="polite" class="soft">Nothing chosen yet.</div></section>'
    )


def matrix(run: Run) -> str:
    """Terms of the losses against networks."""
    rows = who.rows(run.gradient_map)
    columns = who.columns(rows)
    if not rows or not columns:
        words = '<p class="soft">No loss reached a network.</p>'
        return f'<section id="who"><h2>Who trains whom</h2>{words}</section>'
    heads = "".join(f'<th class="column" scope="col">{escape(name)}</th>' for name in columns)
    body = "".join(_row(row, columns) for row in rows)
    reasons = dict.fromkeys(found.unmeasured for found in run.gradient_map if found.unmeasured)
    notes = "".join(f'<p class="soft">Shares were not measured: {text(reason)}.</p>' for reason in reasons)
    roles = "".join(
        f"<li><b>{escape(r.network)}</b>: {escape(r.role)} <span class=soft>({text(r.why)})</span></li>"
        for r in run.roles
    )
    return (
        '<section id="who"><h2>Who trains whom</h2><div class="scroll"><table class="matrix"><thead><tr>'
        f'<th scope="col">term of a loss</th><th scope="col">stepped by</th>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>{notes}"
        '<p class="soft">A share is the part of a network\'s gradient, by norm, that comes from the term. '
        "<i>passes</i>: it goes through a network that no optimizer steps on for this loss. A dash: none.</p>"
        f"{f'<ul>{roles}</ul>' if roles else ''}</section>"
    )


def _row(row: who.Row, columns: Sequence[str]) -> str:
    place = f' <span class="soft mono">{escape(places.label(row.site))}</span>' if row.site else ""
    marks = "".join(_cell(row.cells.get(column)) for column in columns)
    return (
        f'<tr><th scope="row"><code>{escape(row.name)}</code>{place}</th>'
        f"<td>{escape(', '.join(row.optimizers))}</td>{marks}</tr>"
    )


def _cell(cell: Reached | None) -> str:
    if cell is None or not cell.reached:
        return '<td class="cell soft">&ndash;</td>'
    if not cell.applied:
        return '<td class="cell through">passes</td>'
    kind = "cell none" if cell.share == 0 else "cell yes"
    return f'<td class="{kind}">{escape(who.share(cell))}</td>'


def time_section(run: Run, there: bool, pictures: Sequence[Pictured]) -> str:
    """The places for the charts."""
    if not there:
        words = "No summaries were written: <code>whygrad run --watch</code> makes them."
        return f'<section id="time"><h2>Over time</h2><p class="soft">{words}</p></section>'
    histograms = (
        '<div class="controls"><label>Histogram of <select id="histogram-of">'
        '<option value="gradients">the gradient</option><option value="variable">the variable</option>'
        '</select></label></div><div class="plot" id="histograms"></div>'
    )
    hidden = "" if pictures else " hidden"
    return (
        '<section id="time"><h2>Over time</h2>'
        '<div class="controls"><label>All variables: <select id="heat-quantity"></select></label>'
        '<span class="soft"><span id="heat-low"></span><span class="ramp" id="heat-ramp"></span>'
        '<span id="heat-high"></span> · <span class="red">■</span> no gradient</span></div>'
        f'<div class="plot" id="heatmap" tabindex="0" role="region" aria-label="heatmap: variables against '
        f'updates; arrow keys choose a variable"></div>{_NO_SCRIPT}'
        '<div class="controls"><label>Variable <select id="variable"></select></label>'
        '<label>shows <select id="quantity"></select></label>'
        '<label><input type="checkbox" id="log-scale"> log scale</label></div>'
        f'<div class="plot" id="lines"></div><div{hidden}>{histograms}</div>'
        '<p class="soft">Dashed lines mark where a finding began. Long runs are thinned out; the band keeps '
        "their extremes. Drag to zoom, double-click to come back.</p></section>"
    )


def observed(run: Run) -> str:
    """What was seen and what was not, what it cost, versions, the command."""
    rows = "".join(
        f'<tr><th scope="row">{escape(stepping(same))}</th><td>{sum(u.count for u in same):,}</td>'
        f"<td>{sum(u.recorded for u in same):,}</td>"
        f"<td>{escape(', '.join(dict.fromkeys(name for u in same for name in u.networks)))}</td>"
        f'<td class="mono">{escape(places.label(same[0].loss)) if same[0].loss else ""}</td></tr>'
        for same in grouped(run.updates)
    )
    table = (
        '<div class="scroll"><table><thead><tr><th>optimizer</th><th>updates</th><th>recorded in full</th>'
        f"<th>trains</th><th>loss</th></tr></thead><tbody>{rows}</tbody></table></div>"
    )
    facts = [("command", " ".join([run.script, *run.argv])), ("exit code", str(run.exit_code))]
    if run.exception is not None:
        facts.append(("ended by", f"{run.exception.type}: {run.exception.message}"))
    facts.append(("time", f"{run.seconds:.1f} s under observation{', ended early' * run.stopped_early}"))
    facts += [(title(name) or name, version) for name, version in run.versions]
    if run.watched is not None:
        facts.append(("summaries", f"{run.watched.updates:,} ({run.watched.schedule})"))
    listed = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts)
    notes = "".join(_note(note) for note in run.notes)
    return (
        f'<section id="observed"><h2>What was observed</h2>{table if rows else ""}'
        f'{_processes(run)}<p class="soft">{_cost(run)}</p>{f"<ul>{notes}</ul>" if notes else ""}'
        f'<dl class="facts">{listed}</dl></section>'
    )


def _processes(run: Run) -> str:
    """Who they were, if there were many; those that trained nothing are counted."""
    if not run.processes:
        return ""
    shown = [p for p in run.processes if p.updates or p.failed]
    rows = "".join(
        f'<tr><th scope="row">{escape(p.label)}</th><td class="mono">{escape(p.host)}:{p.pid}</td>'
        f"<td>{escape(p.duty)}</td><td>{p.updates:,}</td><td>{escape(_end(p))}</td></tr>"
        for p in shown[:_MOST_PROCESSES]
    )
    left = len(run.processes) - len(shown[:_MOST_PROCESSES])
    more = f'<p class="soft">And {left:,} more, in report.json.</p>' if left else ""
    return (
        '<div class="scroll"><table><thead><tr><th>process</th><th>where</th><th>what it did</th>'
        f"<th>updates</th><th>its end</th></tr></thead><tbody>{rows}</tbody></table></div>{more}"
    )


def _end(process: Process) -> str:
    if process.exception is not None:
        return f"{process.exception.type}: {process.exception.message}"[:120]
    return "" if process.finished else "was not seen"


def _cost(run: Run) -> str:
    """How much was looked at, and what that may have cost."""
    made, full = sum(u.count for u in run.updates), sum(u.recorded for u in run.updates)
    told = "Between the recorded updates only optimizer steps are looked at, and gradients that come or go."
    known = [FRAMEWORKS[name].slowdown for name in run.frameworks if name in FRAMEWORKS]
    slowdown = known[0] if len(known) == len(run.frameworks) == 1 else 0.0
    if not slowdown or not made:
        return told
    share = 100 * (slowdown - 1) * min(full, made) / made
    return (
        f"{told} A recorded update takes about {slowdown:g} times as long, so this run took {share:.2g} % "
        "longer than without (estimated from benchmarks/overhead.py, not measured in this run)."
    )


def _note(note: Note) -> str:
    where = f" ({places.label(note.site)})" if note.site and f":{note.site.line}" not in note.text else ""
    name = {"certificate": "right", "internal": "whygrad"}.get(note.kind, "note")
    return f"<li><b>{name}</b>: {text(note.text + where)}</li>"
