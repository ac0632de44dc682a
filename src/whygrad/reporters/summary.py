"""A run in one sentence."""

from __future__ import annotations

from whygrad.model import Finding, Run, Severity, UpdateCount
from whygrad.reporters.places import label, short
from whygrad.reporters.style import fit
from whygrad.rules.words import count, listed, summed

NAMES = {"torch": "PyTorch", "tensorflow": "TensorFlow", "jax": "JAX"}


def headline(run: Run) -> str:
    """How much was found, where, and in how many updates."""
    numbers = [(len(run.at(s)), str(s)) for s in (Severity.ERROR, Severity.WARNING)]
    found = listed([count(n, word) for n, word in numbers if n] or ["nothing"])
    seen = [_updates(run) if any(u.count for u in run.updates) else "before the first update"]
    seen += [f"{NAMES[name]} {version}".strip() for name, version in run.versions if name in NAMES]
    early = ", ended early" if run.stopped_early else ""
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
    """Why there is nothing to report: all is well, or nothing was seen."""
    end = f"{stopped(run)}; " if run.exception else ""
    if not run.frameworks and end:
        return f"{end}no framework was imported up to there"
    if not run.frameworks:
        return f"{end}{short(run.script)} uses no framework that whygrad watches (PyTorch): nothing to judge"
    if not any(u.count for u in run.updates):
        return f"{end}{short(run.script)} made no optimizer step: there was nothing to judge"
    judged = [u for u in run.updates if u.recorded]
    if not judged:
        return f"{end}{_updates(run)}, none of them recorded: nothing was judged"
    if end:
        return f"{end}up to there no fault was found: {_learning(judged)}"
    early = ", then ended early" if run.stopped_early else ""
    return f"healthy. {_updates(run)}{early}: {_learning(judged)}"


def sufferers(finding: Finding) -> str:
    """Which parameters, under which optimizer, in how many updates."""
    parts = [summed(finding.subjects, finding.network)] if finding.subjects else []
    if finding.optimizer:
        parts.append(finding.optimizer)
    if finding.updates:
        since = f" since update {finding.first_update}" if finding.first_update > 1 else ""
        parts.append(f"{finding.updates:,} update{'' if finding.updates == 1 else 's'}{since}")
    if finding.confidence != "certain":
        parts.append(f"{finding.confidence}, not certain")
    return " · ".join(parts)


def _updates(run: Run) -> str:
    return count(sum(u.count for u in run.updates), "update")


def _learning(updates: list[UpdateCount]) -> str:
    """Which networks learn from which loss."""
    parts = []
    for update in updates:
        networks = listed(update.networks) if update.networks else f"what {update.optimizer} holds"
        verb = "learn" if len(update.networks) > 1 else "learns"
        loss = f" from the loss at {label(update.loss)}" if update.loss else ""
        parts.append(f"{networks} {verb}{loss} ({update.optimizer}, {update.count:,})")
    return "; ".join(parts)
