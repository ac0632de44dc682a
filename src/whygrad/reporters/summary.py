"""A run in one sentence."""

from __future__ import annotations

from collections.abc import Iterable

from whygrad.model import Duty, Finding, Run, Severity, UpdateCount, Verdict
from whygrad.model.frameworks import FRAMEWORKS, title, watched
from whygrad.reporters.places import label, short
from whygrad.reporters.style import fit
from whygrad.rules.words import count, listed, summed

_MOST_GROUPS = 8  # of optimizers that are told of in a sentence
_NEEDS_MORE = (
    "what needs more of them is not judged (a target that is never synced, a gradient that dies later)"
)


def headline(run: Run) -> str:
    """How much was found, where, and in how many updates."""
    numbers = [(len(run.at(s)), str(s)) for s in (Severity.ERROR, Severity.WARNING)]
    found = listed([count(n, word) for n, word in numbers if n] or ["nothing"])
    seen = [_updates(run) if any(u.count for u in run.updates) else "before the first update"]
    seen += [f"{title(name)} {version}".strip() for name, version in run.versions if title(name)]
    early = ", ended early" if run.stopped_early else ""
    early += f"; {run.blind}" if run.blind else ""
    return f"{found} in {short(run.script)} ({', '.join(seen)}{early})"


def stopped(run: Run) -> str:
    """How the script ended, if it did not end well."""
    raised = run.exception
    if raised is None:
        return ""
    where = f" at {label(raised.site)}" if raised.site else ""
    if raised.type == "KeyboardInterrupt":
        return f"the script was interrupted{where}; this is the diagnosis so far"
    message = fit(next(iter(raised.message.strip().splitlines()), ""), 120)
    return f"the script stopped with {raised.type}{where}" + (f": {message}" if message else "")


def healthy(run: Run) -> str:
    """The verdict on a run without a fault: all is well, a part was not seen, or nothing was judged."""
    end = f"{stopped(run)}; " if run.exception else ""
    if run.verdict is Verdict.NOT_JUDGED:
        return end + _not_judged(run, bool(end))
    judged = [u for u in run.updates if u.recorded]
    if run.blind:
        return f"{end}{run.blind}; up to there no fault was found"
    if run.doubts:
        who = f": {_learning(judged)}" if run.measured else ""
        return f"{end}no fault found, but {listed(run.doubts)}. {_updates(run)}{who}"
    if end:
        return f"{end}up to there no fault was found: {_learning(judged)}"
    if run.stopped_early:
        return f"no fault found in {_updates(run)}, then ended early: {_learning(judged)}; {_NEEDS_MORE}"
    return f"healthy. {_updates(run)}: {_learning(judged)}"


def brief(run: Run) -> str:
    """The same in a few words, for a column."""
    if run.verdict is Verdict.NOT_JUDGED:
        return "not judged" if run.blind or any(u.count for u in run.updates) else "no update"
    if run.verdict is Verdict.HEALTHY:
        return "healthy"
    if run.blind:
        return "not judged to its end"
    if run.doubts:
        return f"no fault found, but {run.doubts[0]}"
    if run.exception:
        return "no fault found until it stopped"
    return "no fault found so far" if not run.finished else "no fault found in a few updates"


def _not_judged(run: Run, ended: bool) -> str:
    """Why not."""
    stepped, unwatched = any(u.count for u in run.updates), [n for n in run.frameworks if not watched(n)]
    if run.blind and not stepped:
        return f"not judged: {run.blind}"
    if not run.frameworks and ended:
        return "no framework was imported up to there"
    if not run.frameworks:
        known = listed([f.title for f in FRAMEWORKS.values() if f.backend])
        return f"not judged: {short(run.script)} uses no framework that whygrad watches ({known})"
    if stepped:
        return f"not judged: {_updates(run)}, none of them recorded{f': {run.blind}' if run.blind else ''}"
    if unwatched:
        names = listed([title(name) or name for name in unwatched])
        return (
            f"not judged: no optimizer step was seen, and {names} is not watched by this version of whygrad"
        )
    if run.doubts:
        return f"not judged: no optimizer step was seen: {run.doubts[0]}"
    return f"not judged: {short(run.script)} made no optimizer step: there was nothing to judge"


def sufferers(finding: Finding) -> str:
    """Which parameters, under which optimizer, in how many updates."""
    parts = [summed(finding.subjects, finding.network)] if finding.subjects else []
    if finding.optimizer:
        parts.append(finding.optimizer)
    if finding.updates:
        since = f" since update {finding.first_update}" if finding.first_update > 1 else ""
        parts.append(f"{finding.updates:,} update{'' if finding.updates == 1 else 's'}{since}")
    if finding.ranks:
        parts.append(finding.ranks)
    if finding.confidence != "certain":
        parts.append(f"{finding.confidence}, not certain")
    return " · ".join(parts)


def _updates(run: Run) -> str:
    made, by = count(sum(u.count for u in run.updates), "update"), learners(run)
    return f"{made} in {by:,} processes" if by > 1 else made


def learners(run: Run) -> int:
    """How many processes have trained; none is counted where there was only one."""
    return sum(process.duty is Duty.LEARNER for process in run.processes)


def _learning(updates: list[UpdateCount]) -> str:
    """Which networks were measured to learn from which loss; optimizers of one line are told of once."""
    groups = grouped(updates)
    parts = [_group(group) for group in groups]
    if len(parts) > _MOST_GROUPS:
        more = sum(map(len, groups[_MOST_GROUPS - 1 :]))
        parts = [*parts[: _MOST_GROUPS - 1], f"and {count(more, 'optimizer')} more, in the report"]
    return "; ".join(parts)


def grouped(updates: Iterable[UpdateCount]) -> list[list[UpdateCount]]:
    """Optimizers of one name that were made on one line, for one loss, stand together."""
    groups: dict[object, list[UpdateCount]] = {}
    for update in updates:
        groups.setdefault((update.optimizer, update.made, update.loss), []).append(update)
    return list(groups.values())


def _group(updates: list[UpdateCount]) -> str:
    """What the optimizers of one line do."""
    first = updates[0]
    networks = tuple(dict.fromkeys(name for update in updates for name in update.networks))
    loss = f" from the loss at {label(first.loss)}" if first.loss else ""
    verb = "learn" if len(networks) > 1 else "learns"
    who = f"{listed(networks)} {verb}{loss}" if networks else "nothing was seen to learn"
    return f"{who} ({stepping(updates)}, {sum(update.count for update in updates):,})"


def stepping(updates: list[UpdateCount]) -> str:
    """``opt``; of many that were made on one line, how many."""
    first = updates[0]
    many = sum(1 + update.others for update in updates)
    if many == 1:
        return first.optimizer
    made = f" made at {label(first.made)}" if first.made else ""
    return f"{many:,} optimizers {first.optimizer}{made}"
