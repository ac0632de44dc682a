"""The laboratory itself: what no two runs have in common is no difference, everything else is."""

from __future__ import annotations

import os
import re
import signal
import sys

import pytest
from tests.streams import as_at_a_terminal, settled

#: Prints as TensorFlow does before it can be told to be quiet, and as others do; then runs a line of the test's.
LOGS = """
import os, sys, time
ours = "whygrad" in sys.modules
def log(text, stream=sys.stderr):
    print(f"I0000 00:00:{time.time():.6f} {os.getpid():7d} port.cc:153] {text}", file=stream)
log("oneDNN custom operations are on.")
print(time.strftime("%Y-%m-%d %H:%M:%S.123456: I tensorflow/core/util/port.cc:153] on", time.localtime(time.time())))
print(f"[W1117 17:53:36.{time.time_ns() % 10**9:09d} Module.cpp:12] Warning", object(), file=sys.stderr)
"""


def test_times_process_numbers_and_addresses_are_no_difference(lab):
    lab.write(LOGS)
    done = lab.same("train.py")
    assert done.stderr.splitlines()[0] == "I port.cc:153] oneDNN custom operations are on."
    assert done.stdout == "I tensorflow/core/util/port.cc:153] on\n"


@pytest.mark.parametrize(
    "line",
    [
        'ours and log("oneDNN custom operations are on.")',  # once more than python alone
        'ours or log("oneDNN custom operations are on.")',  # swallowed
        'log("on" if ours else "off")',
        'log("on", sys.stdout if ours else sys.stderr)',
        'print("W" if ours else "I", file=sys.stderr)',
        'ours and print("WARNING: All log messages before absl::InitializeLog()", file=sys.stderr)',
        "ours and print(file=sys.stderr)",
        "print(3 if ours else 4, file=sys.stderr)",
        "sys.exit(ours)",
    ],
)
def test_a_real_difference_is_seen(lab, line):
    lab.write(LOGS + line)
    with pytest.raises(AssertionError):
        lab.same("train.py")


@pytest.mark.parametrize(
    "text, common",
    [
        ("I0000 00:00:1794938035.350165    5693 port.cc:153] on", "I port.cc:153] on"),
        ("W1117 17:53:36.123000 1234 torch/_dynamo/eval.py:12] slow", "W torch/_dynamo/eval.py:12] slow"),
        ("[W1117 17:53:36.123456789 Module.cpp:12] Warning: x", "[W Module.cpp:12] Warning: x"),
        ("[rank0]:[W1117 17:53:36.123456789 a.cpp:12] x", "[rank0]:[W a.cpp:12] x"),
        ("2026-11-17 17:53:36.123456: W tensorflow/a.cc:1] x", "W tensorflow/a.cc:1] x"),
        ("<object at 0x7f26b0c0d150>", "<object at 0x0>"),
        ("loss 1794938035.350165 after 5693 steps at 17:53:36", None),
        ("0x10 flags, page 0xdead", None),
    ],
)  # fmt: skip
def test_the_common_form(text, common):
    assert settled(text) == (text if common is None else common)
    assert settled(f"before\n{text}\nafter\n") == f"before\n{settled(text)}\nafter\n"


def test_ctrl_c_is_heard_where_the_tests_themselves_do_not_hear_it(lab):
    lab.write("import time\nprint('ready', flush=True)\ntime.sleep(60)")
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with as_at_a_terminal():
            assert lab.interrupted((sys.executable, "train.py")).code == -2
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_program_that_does_not_say_that_it_is_ready_is_not_left_behind(lab):
    lab.write("import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(600)")
    with pytest.raises(AssertionError) as failed:
        lab.interrupted((sys.executable, "train.py"))
    (number,) = re.findall(r"'(\d+)' == 'ready'", str(failed.value))
    with pytest.raises(ProcessLookupError):
        os.kill(int(number), 0)
