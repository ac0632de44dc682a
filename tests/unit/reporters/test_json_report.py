"""The public format: its keys, and that nothing is lost."""

import json
from dataclasses import replace

import pytest

from whygrad.model import Run, Site
from whygrad.reporters import json_report, places


def test_the_public_keys(run):
    data = json.loads(json_report.render(run))
    assert data["format"] == 1
    assert data["script"] == "train.py" and data["frameworks"] == ["torch"] and data["exit_code"] == 1
    assert data["exception"]["type"] == "RuntimeError"
    assert (data["exception"]["file"], data["exception"]["line"]) == ("train.py", 7)
    assert data["updates"][0]["optimizer"] == "actor_opt" and data["updates"][0]["count"] == 120
    found = data["findings"][0]
    assert found["site"] == {
        "file": "train.py",
        "line": 4,
        "function": "update",
        "code": 'a = actor(s).detach()  # "keep the critic"',
    }
    assert found["chain"][3]["what"] == "q = critic(s, a)" and found["chain"][3]["line"] == 5
    assert found["chain"][2]["cut"] is True
    for key in (
        "rule",
        "severity",
        "confidence",
        "title",
        "network",
        "subjects",
        "fix",
        "first_update",
        "updates",
    ):
        assert key in found


def test_round_trip(run, monkeypatch):
    monkeypatch.setattr(places, "START", "/nowhere")
    assert json_report.parse(json_report.render(run)) == run


def test_round_trip_of_an_empty_run():
    empty = Run("train.py")
    assert json_report.parse(json_report.render(empty)) == empty


def test_files_outside_stay_absolute(run):
    outside = replace(run, updates=(replace(run.updates[0], loss=Site("/lib/x.py", 3)),))
    assert json.loads(json_report.render(outside))["updates"][0]["loss"]["file"] == "/lib/x.py"


@pytest.mark.parametrize("text", ["[]", "{}", '{"format": 2}', "nonsense"])
def test_something_else_is_refused(text):
    with pytest.raises(ValueError):
        json_report.parse(text)
