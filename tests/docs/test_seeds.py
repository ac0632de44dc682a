"""What docs/seeds.md says of each example is what happens when it is run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.choosing import mostly_long
from tests.learning.loading import whygrad

ROOT = Path(__file__).parents[2]
SEEDS = ROOT / "docs" / "seeds"
EXPECTED = json.loads((SEEDS / "expected.json").read_text())
EVERYDAY = {"001_2_without_surrogate.py", "004_forward_outside_the_tape.py"}  # one of each framework


def test_every_example_is_expected_and_described():
    page = (ROOT / "docs" / "seeds.md").read_text()
    scripts = {path.name for path in SEEDS.glob("*.py")}
    assert scripts == set(EXPECTED)
    assert all(name in page for name in scripts)


@pytest.mark.parametrize("name", mostly_long(EXPECTED, EVERYDAY.__contains__))
def test_what_the_page_says_happens(name, tmp_path):
    told = EXPECTED[name]
    done = whygrad("run", "--quiet", "--out", tmp_path, SEEDS / name, cwd=tmp_path)
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["exit_code"] == told["exit"], done.stderr
    assert (report["exception"] or {}).get("type") == told.get("raises")
    assert [finding["rule"] for finding in report["findings"]] == told["rules"]
    for finding in report["findings"]:
        assert finding["severity"] == told.get("severity", "error")
        assert told.get("code", "") in finding["site"]["code"]
    assert told.get("prints", "") in done.stdout


@pytest.mark.long
def test_a_number_of_steps_is_only_a_yes_to_tf_agents(tmp_path):
    """Seed 003 says that 5 means every fifth step; every step is written."""
    whygrad(
        "run",
        "--quiet",
        "--out",
        tmp_path,
        SEEDS / "003_2_every_five_steps.py",
        tmp_path / "tb",
        cwd=tmp_path,
    )
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(tmp_path / "tb"), size_guidance={"tensors": 0})
    events.Reload()
    tags = events.Tags()["tensors"]
    gradients = [tag for tag in tags if "gradient" in tag]
    assert gradients and not any(tag.endswith(("/mean", "/std", "/min", "/max")) for tag in gradients)
    assert len(events.Tensors(gradients[0])) == 20
