"""How past runs ended, read from their directories."""

import json
import os
import socket
import subprocess
import sys
from datetime import datetime, timedelta

from whygrad.model import Raised, Run
from whygrad.reporters import json_report
from whygrad.running.past import past_runs

NOW = datetime.now().astimezone()


def write(folder, name, run):
    (folder / name).mkdir()
    (folder / name / "report.json").write_text(json_report.render(run))


def started(days=0):
    return (NOW - timedelta(days=days)).isoformat(timespec="seconds")


def test_the_newest_comes_first_and_what_is_no_run_is_left_out(tmp_path):
    write(tmp_path, "old", Run("a.py", started=started(3)))
    write(tmp_path, "new", Run("b.py", started=started(1)))
    write(tmp_path, "middle", Run("c.py", started=started(2)))
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    (tmp_path / "other-tool").mkdir()
    (tmp_path / "other-tool" / "report.json").write_text('{"tests": []}')
    assert [past.folder.name for past in past_runs(tmp_path)] == ["new", "middle", "old"]
    assert [past.folder.name for past in past_runs(tmp_path / "new")] == ["new"]


def test_how_it_ended(tmp_path):
    ends = {
        "finished": Run("a.py"),
        "exit code 3": Run("a.py", exit_code=3),
        "RuntimeError": Run("a.py", exit_code=1, exception=Raised("RuntimeError", "no")),
        "interrupted": Run("a.py", exit_code=130, exception=Raised("KeyboardInterrupt", "")),
        "ended early": Run("a.py", stopped_early=True),
    }
    for name, run in ends.items():
        write(tmp_path, name, run)
    assert {past.folder.name: past.ended for past in past_runs(tmp_path)} == {name: name for name in ends}


def test_killed_or_still_running(tmp_path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    here = socket.gethostname()
    unfinished = {
        "still running": Run("a.py", finished=False, pid=os.getpid(), host=here, started=started()),
        "killed": Run("a.py", finished=False, pid=gone.pid, host=here, started=started()),
        "not ended on node12": Run("a.py", finished=False, pid=os.getpid(), host="node12", started=started()),
    }
    for name, run in unfinished.items():
        write(tmp_path, name, run)
    assert {past.folder.name: past.ended for past in past_runs(tmp_path)} == {n: n for n in unfinished}


def test_a_number_that_another_process_has_now_is_not_the_run(tmp_path):
    run = Run("a.py", finished=False, pid=os.getpid(), host=socket.gethostname(), started=started(days=400))
    write(tmp_path, "a", run)
    (past,) = past_runs(tmp_path)
    assert past.ended == ("killed" if os.path.exists("/proc/self/stat") else "still running")


def test_damaged_reports_are_told_of(tmp_path):
    whole = json_report.render(Run("a.py"))
    texts = {"half": whole[:40], "nothing": "", "newer": json.dumps({"format": 99, "whygrad": "9"})}
    for name, text in texts.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "report.json").write_text(text)
    found = past_runs(tmp_path)
    assert {past.folder.name: past.ended for past in found} == dict.fromkeys(texts, "damaged")
    assert all(past.run is None and "report.json" in past.trouble for past in found)


def test_a_report_of_an_older_version_has_the_time_of_its_file(tmp_path):
    write(tmp_path, "a", Run("a.py", seconds=60))
    (past,) = past_runs(tmp_path)
    assert abs((NOW - past.started).total_seconds()) < 3600
