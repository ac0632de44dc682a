"""What differs between ranks and should not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from whygrad.model import Finding, Run
from whygrad.rules.ranks.judge_ranks import judged
from whygrad.rules.table import RULES


def across(learners: Sequence[Run]) -> Iterator[Finding]:
    """Findings that no process could make alone."""
    processes = [run.processes[0] for run in learners if run.processes]
    ranks = {p.rank: p.traces for p in processes if p.rank >= 0 and p.traces}
    made = {(u.optimizer): u.count for run in learners for u in run.updates}
    for cause in judged(ranks):
        count = max(0, made.get(cause.optimizer, 0) - cause.first_update + 1)
        yield replace(RULES[cause.rule].phrase(cause), updates=count)
