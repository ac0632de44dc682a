"""The figures as text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from mutants.judging import Verdict
from whygrad.rules.table import RULES

HEAD = "| {} | mutants | alarm | right rule | right line | called healthy |\n|---|---|---|---|---|---|"


def of(verdicts: Sequence[Verdict]) -> str:
    """Everything, in Markdown."""
    faulty = [v for v in verdicts if v.state == "faulty"]
    parts = [
        by(faulty, "framework", "framework"),
        by(faulty, "program", "program"),
        by(faulty, "operator", "operator"),
        dropped(verdicts),
        misses(faulty),
        alarms(verdicts),
    ]
    return "\n\n".join(part for part in parts if part)


def by(faulty: Sequence[Verdict], key: str, title: str) -> str:
    """One row for each framework, operator or program."""
    groups: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in faulty:
        groups[getattr(verdict, key)].append(verdict)
    rows = [row(name, groups[name]) for name in sorted(groups)]
    if key == "framework":
        known = [v for v in faulty if v.expected.split("/")[0] in RULES]
        rows += [
            row(f"{name}, where the rule exists", [v for v in known if v.framework == name])
            for name in sorted(groups)
        ]
        rows.append(row("together", faulty))
    return "\n".join([HEAD.format(title), *rows])


def row(name: str, group: Sequence[Verdict]) -> str:
    """Counts and shares of one group."""
    counts = [sum(getattr(v, key) for v in group) for key in ("alarm", "rule", "line", "healthy")]
    cells = [f"{count} ({100 * count / len(group):.0f} %)" if group else "-" for count in counts]
    return f"| {name} | {len(group)} | {' | '.join(cells)} |"


def dropped(verdicts: Iterable[Verdict]) -> str:
    """What was not counted, and why."""
    seen = list(verdicts)
    counts = {state: sum(v.state == state for v in seen) for state in ("equivalent", "broken", "no report")}
    words = [f"{count} {state}" for state, count in counts.items() if count]
    lost = [f"- no report: {v.name or v.program} {v.crashed!r}" for v in seen if v.state == "no report"]
    return "\n".join([f"Not counted: {', '.join(words) or 'none'}.", *lost])


def misses(faulty: Iterable[Verdict]) -> str:
    """Every mutant that was not named on the right line."""
    wrong = [v for v in faulty if not v.line]
    wrong.sort(key=lambda v: (not v.healthy, v.alarm, v.rule, v.operator, v.program))
    return "\n".join(["Misses:", *(miss(v) for v in wrong)]) if wrong else "No misses."


def miss(verdict: Verdict) -> str:
    """One of them on one line."""
    kind = "LINE" if verdict.rule else "RULE" if verdict.alarm else "HEALTHY" if verdict.healthy else "SILENT"
    lines = ",".join(map(str, verdict.lines[:4])) + ("..." if len(verdict.lines) > 4 else "")
    crash = f" [crashed: {verdict.crashed[:60]!r}]" if verdict.crashed else ""
    said = ", ".join(verdict.said) or "-"
    return f"- {kind:<7} {verdict.name}: expected {verdict.expected} at {lines}; said {said}{crash}"


def alarms(verdicts: Iterable[Verdict]) -> str:
    """What was said of healthy programs."""
    seen = [v for v in verdicts if not v.operator and v.state == "original"]
    loud = [f"- {v.program}: {', '.join(v.said)}" for v in seen if v.alarm]
    return "\n".join([f"False alarms: {len(loud)} of {len(seen)} healthy programs.", *loud])
