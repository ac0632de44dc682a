"""Hand-made runs, findings and programs for the tests of fixing."""

from __future__ import annotations

from whygrad.model import Finding, Mark, Raised, Run, Severity, Site, Step, UpdateCount

FILE = "train.py"


def at(text: str, part: str) -> Site:
    """The first line that has this in it."""
    line = next(n for n, code in enumerate(text.splitlines(), 1) if part in code)
    return Site(FILE, line, code=text.splitlines()[line - 1].strip())


def finding(
    rule: str, text: str, part: str, *chain: tuple[str, Mark], network: str = "net", **more
) -> Finding:
    """A finding at the line with this part, and a chain of others."""
    steps = tuple(Step("", at(text, line), mark) for line, mark in chain)
    subjects = tuple(f"{name}.weight" for name in network.split(", "))
    told = {"title": rule, "fix": "", "severity": Severity.ERROR, **more}
    return Finding(rule=rule, site=at(text, part), network=network, subjects=subjects, chain=steps, **told)


def run(*findings: Finding, learn=("net",), silent=(), error="", framework="torch", **more) -> Run:
    """A run with these findings, in which these networks learn."""
    updates = (UpdateCount("opt", 5, 5, tuple(learn), silent=tuple(silent)),)
    raised = Raised(error, "it broke") if error else None
    told = {"stopped_early": True, "updates": updates, "exit_code": int(bool(error)), **more}
    return Run(FILE, frameworks=(framework,), findings=findings, exception=raised, **told)
