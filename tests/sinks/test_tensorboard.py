"""Event files: TensorBoard's own reader loads all of them, however the process ended."""

import math
import os
import signal
import subprocess
import sys
import time
from array import array

import pytest
from tensorboard.backend.event_processing import event_file_loader
from tests.events import load, steps

from whygrad.summaries import kernel
from whygrad.summaries.sinks import tensorboard
from whygrad.summaries.sinks.tensorboard import EventFile


def test_numbers_and_histograms_are_read_back(tmp_path, functions):
    sink = EventFile(tmp_path)
    tags = [f"net.{i}/gradients/mean" for i in range(40)]
    layout = sink.layout([*tags[:-1], ""])
    for step in (1, 200, 2**33):
        layout.write(step, array("d", [step * 0.5 + i for i in range(40)]))
    bins = array("I", bytes(4 * 512))
    bins[127], bins[128], bins[256 + 120], bins[0] = 3, 2, 1, 4
    rows = array("d", [0.5, 1.0, -0.01, 3.0, 2.0, 0.4, 0.0])
    sink.histograms(["net/variable"]).write(7, rows, bins)
    sink.close()
    found = load(tmp_path)
    assert sorted(found.Tags()["scalars"]) == sorted(tags[:-1])
    assert [(e.step, e.value) for e in found.Scalars(tags[3])] == [(1, 3.5), (200, 103.0), (2**33, 2.0**32)]
    (picture,) = found.Histograms("net/variable")
    shown = picture.histogram_value
    assert (picture.step, shown.num, shown.min, shown.max, shown.sum) == (7, 10, -0.01, 3.0, 5.0)
    counts = {limit: n for limit, n in zip(shown.bucket_limit, shown.bucket, strict=True) if n}
    assert counts == {-(2.0**-7): 1, 2.0**-126: 4, 2.0: 3, 4.0: 2}


def test_both_kernels_write_the_same_bytes(monkeypatch):
    monkeypatch.setattr(tensorboard.time, "time", lambda: 12.5)
    made = []
    for name in ("native", "numpy"):
        monkeypatch.setenv("WHYGRAD_KERNEL", name)
        try:
            functions = kernel.load()
        except kernel.NoKernel:
            pytest.skip("no native kernel here")
        template, places = tensorboard.wire.scalars(["a/b", "", "c/d"])
        values = array("d", [math.pi, 1.0, -math.inf])
        bins = array("I", [i % 7 for i in range(1024)])
        rows = array("d", [0.1, 0.2, -3.0, 4.0, 5.0, 0.0, 0.0, *[math.nan] * 7])
        made.append(
            (
                functions.record(template, array("i", places), values, 12.5, 300),
                functions.histograms([b"x", b"absent"], rows, bins, 12.5, 300),
            )
        )
    assert made[0] == made[1]


TRAIN = """
import sys, time, pathlib
from array import array
from whygrad.summaries.sinks.tensorboard import EventFile
sink = EventFile(pathlib.Path(sys.argv[1]))
sink.start()
layout = sink.layout(["a/b%d" % i for i in range(200)])
step = 0
while True:
    step += 1
    layout.write(step, array("d", [step] * 200))
    print(step, flush=True)
    time.sleep(0.001)
"""


def run(folder, number):
    child = subprocess.Popen([sys.executable, "-c", TRAIN, str(folder)], stdout=subprocess.PIPE, text=True)
    for line in child.stdout:
        if int(line) == 500:
            break
    os.kill(child.pid, number)
    rest = child.stdout.read().split()
    return int(rest[-1]) if rest else 500, child.wait()


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_sigterm_loses_nothing_and_ends_as_it_would(tmp_path):
    last, code = run(tmp_path, signal.SIGTERM)
    assert code == -signal.SIGTERM
    assert steps(tmp_path, "a/b7") == list(range(1, len(steps(tmp_path, "a/b7")) + 1))
    assert len(steps(tmp_path, "a/b7")) >= last


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_sigkill_leaves_a_readable_file(tmp_path):
    _, code = run(tmp_path, signal.SIGKILL)
    assert code == -signal.SIGKILL
    found = steps(tmp_path, "a/b7")
    assert found == list(range(1, len(found) + 1))
    assert len(found) > 50  # all but the last fraction of a second
    (file,) = tmp_path.iterdir()
    assert len(list(event_file_loader.EventFileLoader(str(file)).Load())) >= len(found)


def test_half_a_record_at_the_end_does_not_hide_the_others(tmp_path):
    sink = EventFile(tmp_path)
    layout = sink.layout(["a/b"])
    for step in range(10):
        layout.write(step, array("d", [1.0]))
    sink.close()
    sink.path.write_bytes(sink.path.read_bytes()[:-20])
    assert steps(tmp_path, "a/b") == list(range(9))


def test_a_disk_that_does_not_keep_up_is_counted_and_blocks_nobody(tmp_path):
    sink = EventFile(tmp_path, limit=1000)
    layout = sink.layout([f"a/b{i}" for i in range(10)])
    sink._writer._writing.acquire()  # the disk is busy
    for step in range(50):
        layout.write(step, array("d", [1.0] * 10))
    sink._writer._writing.release()
    sink.close()
    assert sink.refused > 0
    assert len(steps(tmp_path, "a/b1")) + sink.refused == 50


def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    sink = EventFile(tmp_path / "file" / "below")
    sink.layout(["a"]).write(1, array("d", [1.0]))
    sink.close()
    assert "Error" in sink.trouble
    assert sink.refused == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_child_writes_nothing(tmp_path):
    sink = EventFile(tmp_path)
    layout = sink.layout(["a"])
    layout.write(1, array("d", [1.0]))
    child = os.fork()
    if not child:
        layout.write(2, array("d", [1.0]))
        sink.close()
        os._exit(0)
    os.waitpid(child, 0)
    sink.close()
    assert steps(tmp_path, "a") == [1]


def test_what_is_accepted_is_on_disk_soon(tmp_path):
    sink = EventFile(tmp_path)
    sink.layout(["a"]).write(1, array("d", [1.0]))
    for _ in range(200):
        if sink.path is not None and sink.path.stat().st_size > 50:
            break
        time.sleep(0.05)
    assert steps(tmp_path, "a") == [1]
    sink.close()
