"""Reports of many processes, made one run: what they share is told once, and who it was found in."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from whygrad.model import Duty, Finding, Note, Process, Raised, Run, Severity, Site, UpdateCount
from whygrad.processes.ranks import across
from whygrad.rules.words import listed

_Thing = TypeVar("_Thing")
_ORDER = (Severity.ERROR, Severity.WARNING, Severity.NOTE)
#: What a parent says of children that are watched themselves.
_WATCHED = "processes that it started share its weights"


def combine(root: Run, members: Sequence[Run]) -> Run:
    """One run. ``root`` is the process that was started by hand; it may have trained nothing itself."""
    latest = _latest(members)
    learners = [run for run in latest if any(u.count for u in run.updates) or run.findings]
    everybody = [*([root] if any(u.count for u in root.updates) else []), *learners]
    failed = _first_failure(members)
    if not everybody and failed is None:
        return replace(root, processes=_processes(root, members))
    findings = [*_findings(everybody, learners), *across(learners)]
    notes = _notes(root, everybody, findings, latest)
    script, argv = _named(root, learners)
    return replace(
        root,
        script=script,
        argv=argv,
        frameworks=_once(f for run in (root, *everybody) for f in run.frameworks),
        versions=_once(v for run in (root, *everybody) for v in run.versions),
        exception=failed or root.exception,
        updates=_updates(everybody),
        findings=tuple(sorted(findings, key=lambda f: _ORDER.index(f.severity))),
        notes=notes,
        gradient_map=_first(
            (m for run in everybody for m in run.gradient_map), lambda m: (m.optimizer, _line(m.loss))
        ),
        roles=_first((r for run in everybody for r in run.roles), lambda r: (r.network, r.role)),
        drawing=next((run.drawing for run in everybody if run.drawing.losses), root.drawing),
        sources=_first((e for run in (root, *everybody) for e in run.sources), lambda e: (e.file, e.first)),
        stopped_early=any(run.stopped_early for run in (root, *everybody)),
        blind=root.blind or next((run.blind for run in everybody if run.blind), ""),
        ignored=_once(i for run in (root, *everybody) for i in run.ignored),
        processes=_processes(root, members),
    )


def label(processes: Sequence[Process], all_of: Sequence[Process]) -> str:
    """``all 8 ranks``, ``only rank 3``; nothing where there is only one."""
    if len(all_of) < 2:
        return ""
    ranked = all(p.rank >= 0 for p in all_of)
    kind = "ranks" if ranked else "processes"
    if len(processes) == len(all_of):
        return f"{'both' if len(all_of) == 2 else f'all {len(all_of):,}'} {kind}"
    if ranked and len(processes) == 1:
        return f"only rank {processes[0].rank}"
    if ranked and len(processes) <= 8:
        return f"ranks {listed([str(p.rank) for p in processes])} of {len(all_of):,}"
    return f"{len(processes):,} of {len(all_of):,} {kind}"


def _named(root: Run, learners: Sequence[Run]) -> tuple[str, tuple[str, ...]]:
    """What the user calls the program, where it was not started by its name but by a launcher's."""
    names = {(run.script, run.argv) for run in learners}
    if root.script.endswith(".py") or any(u.count for u in root.updates) or len(names) != 1:
        return root.script, root.argv
    return names.pop()


def _latest(members: Sequence[Run]) -> list[Run]:
    """Of ranks that were started anew, the last; by rank."""
    found: dict[Hashable, Run] = {}
    for run in sorted(members, key=lambda r: (r.processes[0].restart, r.processes[0].ended)):
        process = run.processes[0]
        key: Hashable = process.rank if process.rank >= 0 and process.world else (process.host, process.pid)
        found[key] = run
    return sorted(found.values(), key=lambda r: (r.processes[0].rank, r.processes[0].pid))


def _first_failure(members: Sequence[Run]) -> Raised | None:
    """What failed first: others may have failed because of it."""
    failed = sorted((r.processes[0] for r in members if r.processes[0].failed), key=lambda p: p.ended)
    return failed[0].exception if failed else None


def _processes(root: Run, members: Sequence[Run]) -> tuple[Process, ...]:
    if not members:
        return ()
    count = sum(u.count for u in root.updates)
    duty = Duty.LEARNER if count else Duty.OTHER
    first = Process(
        root.pid, root.host, name="the program itself", duty=duty, updates=count, finished=root.finished
    )
    found = sorted((p for run in members for p in run.processes), key=lambda p: (p.rank, p.host, p.pid))
    return (first, *found) if root.pid else tuple(found)


def _line(site: Site | None) -> tuple[str, int]:
    return (site.file, site.line) if site is not None else ("", 0)


def _findings(everybody: Sequence[Run], learners: Sequence[Run]) -> Iterable[Finding]:
    """Each cause once."""
    same: dict[Hashable, list[tuple[Finding, Run]]] = {}
    for run in everybody:
        for finding in run.findings:
            same.setdefault((finding.rule, _line(finding.site), finding.network), []).append((finding, run))
    of_all = [run.processes[0] for run in learners]
    for group in same.values():
        first = min(group, key=lambda pair: _ORDER.index(pair[0].severity))[0]
        here = [run.processes[0] for _, run in group if run.processes]
        yield replace(
            first,
            subjects=_once(s for finding, _ in group for s in finding.subjects),
            updates=sum(finding.updates for finding, _ in group),
            first_update=min(finding.first_update for finding, _ in group),
            ranks=label(here, of_all) if here else "",
        )


def _updates(runs: Sequence[Run]) -> tuple[UpdateCount, ...]:
    """Sums over the optimizers that every process has made on the same line, one after the other."""
    same: dict[Hashable, list[UpdateCount]] = {}
    for run in runs:
        seen: dict[Hashable, int] = {}
        for update in run.updates:
            key = (update.optimizer, _line(update.made))
            seen[key] = nth = seen.get(key, 0) + 1
            same.setdefault((key, nth), []).append(update)
    return tuple(
        replace(
            group[0],
            count=sum(u.count for u in group),
            recorded=sum(u.recorded for u in group),
            networks=_once(n for u in group for n in u.networks),
            silent=_once(
                n for u in group if u.count for n in u.silent if not any(n in v.networks for v in group)
            ),
            loss=next((u.loss for u in group if u.loss), None),
        )
        for group in same.values()
    )


def _notes(
    root: Run, everybody: Sequence[Run], findings: Sequence[Finding], latest: Sequence[Run]
) -> tuple[Note, ...]:
    """What any of them has to say, once; what is right only where nothing is wrong."""
    told = [n for run in (root, *everybody) for n in run.notes if not n.text.startswith(_WATCHED)]
    if any(f.severity is not Severity.NOTE for f in findings):
        told = [n for n in told if n.kind != "certificate"]
    return (*_about_ends(latest), *_first(told, lambda n: (n.text, _line(n.site))))


def _about_ends(latest: Sequence[Run]) -> Iterable[Note]:
    killed = [r.processes[0] for r in latest if not r.processes[0].finished and r.processes[0].updates]
    if killed:
        names = listed([p.label for p in killed[:4]] + ([f"{len(killed) - 4} more"] if killed[4:] else []))
        own = "its" if len(killed) == 1 else "their"
        text = f"{names} did not come to an end of {own} own, and the last of what was done was not seen"
        yield Note(text, kind="doubt")
    parents = {
        r.processes[0].parent for r in latest if r.processes[0].failed
    }  # a launcher fails with its ranks
    failed = [p for r in latest if (p := r.processes[0]).failed and not (p.pid in parents and not p.updates)]
    failed.sort(key=lambda p: p.ended)
    if len(failed) > 1:
        first, *later = failed
        what = first.exception.type if first.exception else ""
        yield Note(
            f"{first.label} failed first, with {what}; after it {listed([p.label for p in later[:4]])}"
        )


def _once(things: Iterable[_Thing]) -> tuple[_Thing, ...]:
    return tuple(dict.fromkeys(things))


def _first(things: Iterable[_Thing], key: Callable[[_Thing], Hashable]) -> tuple[_Thing, ...]:
    found: dict[Hashable, _Thing] = {}
    for thing in things:
        found.setdefault(key(thing), thing)
    return tuple(found.values())
