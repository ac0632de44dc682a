"""Reports of many processes become one run."""

from __future__ import annotations

import json

from whygrad.model import Duty, Finding, Note, Process, Raised, Run, Severity, Site, UpdateCount, Verdict
from whygrad.processes.combining import combine
from whygrad.processes.files import Files, reports
from whygrad.reporters import json_report, terminal

LINE = Site("train.py", 12, "main", "q = net(x).detach()")
ROOT = Run("train.py", pid=1, host="here")


def rank(number, *findings, world=4, updates=10, **about):
    process = Process(100 + number, "here", rank=number, world=world, updates=updates, finished=True)
    process = Process(
        **{
            **{f: getattr(process, f) for f in process.__slots__},
            "duty": Duty.LEARNER if updates else Duty.OTHER,
            **about,
        }
    )
    counts = (UpdateCount("opt", updates, 4, ("actor",), made=Site("train.py", 9)),) if updates else ()
    return Run(
        "train.py", updates=counts, findings=findings, processes=(process,), exception=process.exception
    )


def cut(**fields):
    return Finding(
        "detached", "actor gets no gradient", LINE, "drop it", network="actor", updates=10, **fields
    )


def test_what_all_ranks_share_is_one_finding_and_counts_are_sums():
    run = combine(ROOT, [rank(n, cut()) for n in range(4)])
    assert [(f.ranks, f.updates) for f in run.findings] == [("all 4 ranks", 40)]
    assert [(u.count, u.recorded) for u in run.updates] == [(40, 16)]
    assert "all 4 ranks" in terminal.render(run)
    assert "40 updates in 4 processes" in terminal.render(run)


def test_what_one_rank_has_is_said_of_it_alone():
    run = combine(ROOT, [rank(0), rank(1), rank(2), rank(3, cut())])
    assert [f.ranks for f in run.findings] == ["only rank 3"]
    run = combine(ROOT, [rank(0), rank(1, cut()), rank(2), rank(3, cut())])
    assert [f.ranks for f in run.findings] == ["ranks 1 and 3 of 4"]


def test_different_networks_and_lines_stay_apart():
    other = Finding("detached", "critic gets none", LINE, "drop it", network="critic")
    run = combine(ROOT, [rank(0, cut()), rank(1, other)])
    assert sorted(f.network for f in run.findings) == ["actor", "critic"]


def test_a_process_without_updates_has_no_part_but_is_told_of():
    run = combine(ROOT, [rank(0), rank(1, updates=0)])
    assert [(p.pid, p.duty) for p in run.processes if p.pid > 1] == [(100, Duty.LEARNER), (101, Duty.OTHER)]
    assert run.verdict is Verdict.HEALTHY


def test_the_first_failure_comes_first():
    early = rank(2, exception=Raised("KeyError", "x"), ended=5.0)
    late = rank(0, exception=Raised("RuntimeError", "peer is gone"), ended=7.0)
    run = combine(ROOT, [late, rank(1), early])
    assert run.exception == Raised("KeyError", "x")
    assert any(n.text.startswith("rank 2 failed first, with KeyError") for n in run.notes)


def test_a_rank_that_was_started_anew_counts_once():
    run = combine(ROOT, [rank(0, cut(), restart=0), rank(0, restart=1), rank(1, restart=1)])
    assert not run.findings
    assert run.updates[0].count == 20


def test_nobody_is_called_healthy_whose_end_was_not_seen():
    run = combine(ROOT, [rank(0), rank(1, finished=False)])
    assert run.verdict is Verdict.NO_FAULT
    assert "rank 1 did not come to an end of its own" in terminal.render(run)


def test_what_is_right_is_said_where_nothing_is_wrong():
    right = Note("`.detach()` is right", LINE, "certificate")
    good = [Run(**{**as_fields(rank(n)), "notes": (right,)}) for n in range(2)]
    assert combine(ROOT, good).notes == (right,)
    assert combine(ROOT, [good[0], rank(1, cut())]).notes == ()


def as_fields(run):
    return {name: getattr(run, name) for name in run.__slots__}


def test_nothing_is_changed_where_there_was_only_one():
    alone = Run("train.py", updates=(UpdateCount("opt", 3, 3),), findings=(cut(),), pid=1)
    assert combine(alone, []) == alone


def test_a_launcher_lends_the_name_of_what_it_starts():
    run = combine(Run("torch.distributed.run", ("train.py",)), [rank(0), rank(1)])
    assert (run.script, run.argv) == ("train.py", ())


def test_files_that_are_no_reports_are_passed_over(tmp_path):
    process = rank(0).processes[0]
    Files(tmp_path, process, source=True).write(rank(0))
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "other.json").write_text(json.dumps({"format": 1, "script": "x"}))
    assert [r.processes for r in reports(tmp_path)] == [(process,)]


def test_the_report_says_who_there_was_and_can_be_read_again():
    run = combine(ROOT, [rank(0, cut(severity=Severity.WARNING)), rank(1, exception=Raised("E", "m", LINE))])
    again = json_report.parse(json_report.render(run))
    assert again.processes == run.processes
    assert again.findings == run.findings
