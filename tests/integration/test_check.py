"""`whygrad check` ends a program as soon as it has seen enough, whatever the program does about it."""

from __future__ import annotations

import json
import sys
import time

import pytest


def report(lab):
    return json.loads((lab.folder / "out" / "report.json").read_text())


@pytest.fixture
def check(lab):
    """Check a script; gives the process and the report."""

    def run(source, *options, **settings):
        lab.write(source)
        done = lab.fake("check", "--out", "out", *options, "train.py", **settings)
        return done, report(lab)

    return run


FOREVER = """
    import atexit, fakeframe
    atexit.register(print, "exit handler")
    steps = 0
    try:
        while True:
            fakeframe.step(); steps += 1
    finally:
        print("finally, after", steps)
"""


def test_it_ends_cleanly_once_everything_was_judged(check):
    done, run = check(FOREVER)
    assert (done.code, done.stdout) == (0, "finally, after 4\nexit handler\n")
    assert "Traceback" not in done.stderr
    assert run["stopped_early"] and run["updates"][0]["count"] == 5 and run["exit_code"] == 0


def test_the_number_of_updates_is_the_users(check):
    assert "after 1\n" in check(FOREVER, "--updates", "2")[0].stdout


@pytest.mark.parametrize(("findings", "code"), [("error", 1), ("warning", 1), ("note", 0), ("", 0)])
def test_exit_code_says_what_was_found(check, findings, code):
    done, run = check(FOREVER, findings=findings)
    assert done.code == code
    assert len(run["findings"]) == len(findings.split())


def test_a_script_that_ends_by_itself(check):
    done, run = check("import fakeframe\nfakeframe.step()\nprint('done')")
    assert (done.code, done.stdout, run["stopped_early"]) == (0, "done\n", False)


def test_a_script_that_dies_keeps_its_traceback_and_exit_code(check):
    done, run = check("import fakeframe\nfakeframe.step()\n1 / 0")
    assert (done.code, run["exception"]["type"], run["exception"]["line"]) == (1, "ZeroDivisionError", 3)
    assert done.stderr.startswith("Traceback (most recent call last):")
    assert check("import sys, fakeframe\nfakeframe.step()\nsys.exit(7)")[0].code == 7


@pytest.mark.parametrize(
    "source",
    ["import fakeframe", "print('no framework at all')", "import sys; sys.exit()"],
)
def test_nothing_to_judge_is_wrong_use(check, source):
    assert check(source)[0].code == 2


@pytest.mark.parametrize(
    "broad", ["except Exception: pass", "except BaseException as e: print(type(e).__mro__[1])"]
)
def test_a_script_that_catches_everything_once(check, broad):
    done, _ = check(
        f"""
        import fakeframe
        for i in range(1000):
            try:
                fakeframe.step()
            {broad}
            if i > 500: fakeframe.step()
        print("never here")
        """
    )
    assert done.code == 0
    assert "never here" not in done.stdout


def test_a_script_that_catches_everything_for_ever(check):
    started = time.monotonic()
    done, run = check(
        """
        import fakeframe, time
        while True:
            try:
                fakeframe.step(); time.sleep(0.01)
            except: pass
        """,
        grace="1", findings="error",
    )  # fmt: skip
    assert (done.code, len(run["findings"])) == (1, 1)
    assert time.monotonic() - started < 20


def test_cleaning_up_is_not_disturbed(check):
    done, _ = check(
        """
        import fakeframe, time
        try:
            while True: fakeframe.step()
        finally:
            for _ in range(20): time.sleep(0.05)
            print("saved")
        """
    )
    assert (done.code, done.stdout) == (0, "saved\n")


def test_what_the_script_makes_of_it_is_not_shown(check):
    done, run = check(
        """
        import fakeframe, sys
        try:
            while True: fakeframe.step()
        except SystemExit as error:
            raise RuntimeError("training failed")
        """
    )
    assert done.code == 0
    assert "RuntimeError" not in done.stderr
    assert run["exception"] is None


THREADED = {
    "joined": "thread.join()",
    "waiting for a queue": "import queue; queue.Queue().get()",
    "sleeping": "time.sleep(1000)",
    "busy": "while True: pass",
    "nothing": "",
}


@pytest.mark.parametrize("waiting", THREADED)
def test_training_in_a_worker_thread_ends_the_main_thread_too(check, waiting):
    done, run = check(
        f"""
        import fakeframe, threading, time
        def train():
            try:
                while True: fakeframe.step()
            finally:
                print("worker ends", flush=True)
        thread = threading.Thread(target=train)
        thread.start()
        {THREADED[waiting]}
        """
    )
    assert (done.code, done.stdout) == (0, "worker ends\n")
    assert "Traceback" not in done.stderr
    assert run["updates"][0]["count"] == 5


def test_training_in_an_executor_and_in_an_event_loop(check):
    done, _ = check(
        """
        import fakeframe
        from concurrent.futures import ThreadPoolExecutor
        def train():
            while True: fakeframe.step()
        ThreadPoolExecutor(1).submit(train).result()
        """
    )
    assert done.code == 0
    done, _ = check(
        """
        import asyncio, fakeframe
        async def train():
            while True: fakeframe.step(); await asyncio.sleep(0)
        asyncio.run(train())
        """
    )
    assert done.code == 0
    assert "Traceback" not in done.stderr


def test_other_threads_that_never_end(check):
    done, _ = check(
        """
        import fakeframe, threading, time
        def act():
            while True: time.sleep(0.01)
        threading.Thread(target=act).start()
        while True: fakeframe.step()
        """,
        grace="1",
    )
    assert done.code == 0


@pytest.mark.parametrize(
    "body", ["time.sleep(1000)", "while True: pass", "fakeframe.step(); time.sleep(1000)"]
)
def test_the_time_limit_works_without_a_single_step(check, body):
    started = time.monotonic()
    done, run = check(f"import fakeframe, time\n{body}", "--seconds", "0.5")
    assert time.monotonic() - started < 10
    assert done.code == (0 if "step" in body else 2)
    assert run["stopped_early"]
    assert "--seconds" in done.stderr


def test_children_do_not_outlive_it(check):
    done, _ = check(
        """
        import fakeframe, multiprocessing, time, os
        def act():
            open(f"child-{os.getpid()}", "w").close()
            time.sleep(60)
        multiprocessing.get_context("fork").Process(target=act).start()
        time.sleep(0.3)
        while True: fakeframe.step()
        """,
        grace="1",
    )
    assert done.code == 0  # and captured output means that no child holds the pipe any more


@pytest.mark.parametrize("options", [("--updates", "0"), ("--seconds", "-1"), ("--updates", "many")])
def test_wrong_numbers(lab, options):
    done = lab.whygrad("check", *options, "train.py")
    assert done.code == 2
    assert "invalid positive number" in done.stderr


def test_ctrl_c_during_a_check_is_the_users_and_still_reports(lab):
    lab.write("import time\nprint('ready', flush=True)\ntime.sleep(60)")
    done = lab.interrupted((sys.executable, "-m", "whygrad", "check", "train.py"))
    assert done.code == -2
    assert done.stderr.count("KeyboardInterrupt") == 1
    assert "interrupted" in done.stderr


def test_a_module_is_checked_too(lab):
    lab.write("", "pkg/__init__.py")
    lab.write(FOREVER, "pkg/train.py")
    done = lab.fake("check", "-m", "pkg.train")
    assert (done.code, done.stdout) == (0, "finally, after 4\nexit handler\n")
    assert list(lab.folder.glob("runs/train-*/report.json"))
