"""From run directories to files: sizes, killed runs, comparisons, bad input."""

from __future__ import annotations

import base64
import math
import shutil
import zlib
from array import array

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tests.report.conftest import whygrad

from whygrad.model import Run, Series
from whygrad.reporters import html_numbers, html_report
from whygrad.summaries import histograms, history

LIMIT = 3_000_000


def long_run(variables, points=512):
    """The history of a long run: as many points as are kept, a spike in one of them."""
    steps = tuple(range(200, 200 * points + 1, 200))
    found = []
    for v in range(variables):
        for q, quantity in enumerate(("norm", "mean", "std", "min", "max", "zeros", "nonfinite", "absent")):
            for group in ("gradients", "variable"):
                wave = array("f", (math.sin(0.1 * n + v + q) + 1.5 for n in range(points)))
                low, high = array("f", (w * 0.7 for w in wave)), array("f", (w * 1.3 for w in wave))
                if v == 3 and quantity == "norm":
                    high[100] = 1e6
                flat = array("f", bytes(4 * points))
                columns = (flat, flat, flat) if quantity in ("nonfinite", "absent") else (low, high, wave)
                found.append(Series("opt", f"net.{v}.weight", f"{group}/{quantity}", steps, *columns))
    return found


def test_a_long_run_of_many_variables_stays_small_and_keeps_its_spike(look, tmp_path):
    page = html_report.render(Run("train.py"), long_run(200))
    assert len(page.encode()) < LIMIT
    (tmp_path / "report.html").write_text(page)
    with look(tmp_path / "report.html") as opened:
        opened.select_option("#variable", "net.3.weight")
        most = opened.evaluate("Math.max(...page.time.values('net.3.weight', 'gradients/norm', 1))")
        assert most == pytest.approx(1e6, rel=1e-3)


def test_numbers_survive_packing():
    (series, *_) = long_run(1, 40)
    packed = html_numbers.packed([series])
    numbers = array("f", zlib.decompress(base64.b64decode(packed.text)))
    assert list(numbers[:40]) == pytest.approx(list(series.low), rel=1e-3)
    assert list(numbers[80:]) == pytest.approx(list(series.mean), rel=1e-3)


def test_thinning_keeps_extremes_and_the_last_update():
    series = next(s for s in long_run(4) if s.variable == "net.3.weight" and s.quantity == "gradients/norm")
    thin = html_numbers.thinned(series, 50)
    assert len(thin.steps) <= 50 and thin.steps[-1] == series.steps[-1]
    assert max(thin.high) == 1e6 and min(thin.low) == min(series.low)


def test_histograms_are_those_that_tensorboard_reads(healthy):
    (file,) = healthy.glob("events.out.tfevents.*")
    accumulator = EventAccumulator(str(healthy), size_guidance={"histograms": 0})
    accumulator.Reload()
    found = {f"{p.variable}/{p.of}": p for p in histograms.read(file, most=1000)}
    assert set(found) == set(accumulator.Tags()["histograms"])
    ours = found["critic.0.weight/gradients"]
    for event, step, counts in zip(
        accumulator.Histograms("critic.0.weight/gradients"), ours.steps, ours.counts, strict=True
    ):
        assert event.step == step
        value = event.histogram_value
        assert {limit: n for limit, n in zip(value.bucket_limit, value.bucket, strict=True) if n} == {
            limit: n for limit, n in zip(ours.limits, counts, strict=True) if n
        }


def test_a_run_that_was_killed_gets_its_report(healthy, look, tmp_path):
    """Nothing but an event file that ends in the middle of a record."""
    (file,) = healthy.glob("events.out.tfevents.*")
    content = file.read_bytes()
    killed = tmp_path / "killed"
    killed.mkdir()
    (killed / file.name).write_bytes(content[: len(content) * 2 // 3])
    assert whygrad("report", "killed", folder=tmp_path).returncode == 0
    with look(killed / "report.html") as page:
        assert "critic.0.weight" in page.locator("#variable").inner_text()
        assert page.locator("#histograms canvas").count() == 1


def test_the_newest_run_is_taken(sick, tmp_path):
    shutil.copytree(sick, tmp_path / "runs" / "one")
    done = whygrad("report", "--to", "there.html", folder=tmp_path)
    assert done.returncode == 0 and "there.html" in done.stderr
    assert (tmp_path / "there.html").stat().st_size < LIMIT


def test_it_is_shown_in_the_browser(sick, tmp_path, monkeypatch):
    shutil.copytree(sick, tmp_path / "one")
    viewer = tmp_path / "viewer"
    viewer.write_text(f'#!/bin/sh\necho "$1" > {tmp_path / "shown"}\n')
    viewer.chmod(0o755)
    monkeypatch.setenv("BROWSER", str(viewer))
    assert whygrad("report", "one", "--open", folder=tmp_path).returncode == 0
    assert (tmp_path / "shown").read_text().strip() == (tmp_path / "one" / "report.html").as_uri()


@pytest.mark.parametrize("verb", ["report", "compare"])
@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "there is no folder"),
        ("", "is no run of whygrad"),
        ("{]", "cannot be read"),
        ('{"format": 9}', "cannot be read"),
    ],
)
def test_what_is_no_run_gets_one_sentence(tmp_path, verb, content, says):
    if content is not None:
        (tmp_path / "x").mkdir()
    if content:
        (tmp_path / "x" / "report.json").write_text(content)
    done = whygrad(verb, *["x"] * (2 if verb == "compare" else 1), folder=tmp_path)
    assert done.returncode == 2 and says in done.stderr
    assert done.stderr.count("\n") == 1 and done.stdout == ""


def test_no_run_at_all(tmp_path):
    done = whygrad("report", folder=tmp_path)
    assert done.returncode == 2 and "there is no run below runs/" in done.stderr


def test_two_runs_side_by_side(sick, healthy, browser, tmp_path):
    done = whygrad("compare", sick, healthy, "--html", "both.html", folder=tmp_path)
    assert done.returncode == 0
    first, second, _, sentence = done.stdout.splitlines()[:4]
    assert first.startswith("sick: detached") and second.startswith("healthy: healthy (800 updates)")
    assert sentence.startswith("actor.0.weight differs first, at update 2: no gradient in sick")
    page = browser.new_page()
    page.goto((tmp_path / "both.html").as_uri())
    assert page.locator("tbody tr").count() == 12 and page.locator("svg polyline").count() == 18
    page.close()


def test_series_come_from_the_events_when_there_is_no_history(healthy, tmp_path):
    shutil.copytree(healthy, tmp_path / "run")
    kept = {(s.variable, s.quantity): s for s in history.load(tmp_path / "run" / "watch.history")}
    (tmp_path / "run" / "watch.history").unlink()
    from whygrad.cli.run_directories import read

    found = {(s.variable, s.quantity): s for s in read(str(tmp_path / "run")).series()}
    one, other = kept["critic.0.weight", "gradients/norm"], found["critic.0.weight", "gradients/norm"]
    assert other.steps == one.steps and list(other.mean) == pytest.approx(list(one.mean), rel=1e-5)
