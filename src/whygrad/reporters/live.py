"""The page of a run that goes on: that of ``whygrad report``, and it asks for a newer one each second."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from whygrad.model import Run, Series
from whygrad.reporters import html_report
from whygrad.summaries.histograms import Pictured

_SCRIPT = "live.js"


def render(run: Run, series: Sequence[Series], pictures: Sequence[Pictured], version: str, says: str) -> str:
    """The whole page; ``says`` is where the run stands."""
    return html_report.render(run, series, pictures, (_bar(version, says), _SCRIPT))


def waiting(script: str, version: str, says: str) -> str:
    """Before there is anything to show."""
    text = html_report.asset(_SCRIPT)
    return "\n".join(
        [
            html_report.head(script, [html_report.asset("report.css")], [text], asks=True),
            '<header class="top"><div class="brand">whygrad</div><div class="verdict unknown">',
            f"<h1>Nothing to show yet</h1></div></header><main>{_bar(version, says)}</main>",
            f"<script>{text}</script></body></html>",
            "",
        ]
    )


def _bar(version: str, says: str) -> str:
    return f'<p id="live" role="status" data-version="{escape(version)}">{escape(says)}</p>'
