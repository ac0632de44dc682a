"""SARIF: valid by the official schema, with what code scanning asks for, on the right line and column."""

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from whygrad.model import Confidence, Note, Run, Severity, Site, Step
from whygrad.reporters import sarif
from whygrad.reporters.fingerprints import line_hashes
from whygrad.rules.table import RULES

SCHEMA = Path(__file__).parents[2] / "data" / "sarif" / "sarif-schema-2.1.0.json"


@pytest.fixture(scope="module")
def validator():
    kind = jsonschema.Draft7Validator
    return kind(json.loads(SCHEMA.read_text()), format_checker=kind.FORMAT_CHECKER)


@pytest.fixture
def log(validator, here):
    """Renders a run, and does not let anything pass that the schema refuses."""

    def render(run, root=""):
        document = json.loads(sarif.render(run, root))
        validator.validate(document)
        (only,) = document["runs"]
        return only

    return render


def test_the_schema_refuses_what_is_wrong(validator, run, here):
    document = json.loads(sarif.render(run))
    document["runs"][0]["results"][0]["level"] = "fatal"
    assert list(validator.iter_errors(document))


def test_a_finding_is_on_its_line_and_column(log, run):
    (result,) = log(run)["results"]
    assert (result["ruleId"], result["level"]) == ("detached", "error")
    (location,) = result["locations"]
    place = location["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "train.py", "uriBaseId": "%SRCROOT%"}
    region = place["region"]
    line = '    a = actor(s).detach()  # "keep the critic"'
    assert region["snippet"]["text"] == line
    assert (region["startLine"], region["endLine"]) == (4, 4)
    assert line[region["startColumn"] - 1 : region["endColumn"] - 1] == ".detach()"
    text = result["message"]["text"]
    assert text.startswith("actor gets no gradient: cut by .detach(). ")
    assert "Fix: write `a = actor(s)`." in text


def test_a_tab_or_a_changed_file_moves_no_column(log, run, finding, here):
    (here / "train.py").write_text("import torch\n\ndef update(s):\n\ta = actor(s).detach()\n")
    import linecache

    linecache.clearcache()
    site = Site.read(str(here / "train.py"), 4, "update")
    (result,) = log(replace(run, findings=(replace(finding, site=site),)))["results"]
    region = result["locations"][0]["physicalLocation"]["region"]
    assert "\ta = actor(s).detach()"[region["startColumn"] - 1 : region["endColumn"] - 1] == ".detach()"
    (here / "train.py").write_text("print('something else')\n" * 9)
    linecache.clearcache()
    (result,) = log(replace(run, findings=(replace(finding, site=site),)))["results"]
    assert result["locations"][0]["physicalLocation"]["region"]["snippet"]["text"] == "a = actor(s).detach()"


def test_the_chain_is_a_code_flow_from_parameter_to_loss(log, run):
    (result,) = log(run)["results"]
    (flow,) = result["codeFlows"]
    (thread,) = flow["threadFlows"]
    said = [step["location"]["message"]["text"] for step in thread["locations"]]
    assert said == ["actor.0.weight", ".detach() (cut here)", "q = critic(s, a)", "loss = -q.mean()"]
    lines = [s["location"]["physicalLocation"]["region"]["startLine"] for s in thread["locations"]]
    assert lines == [4, 4, 5, 6]
    assert [step["importance"] for step in thread["locations"]].count("essential") == 1
    assert [place["id"] for place in result["relatedLocations"]] == [1, 2, 3, 4]
    assert [place["message"]["text"] for place in result["relatedLocations"]] == said


def test_every_rule_explains_itself(log, run):
    driver = log(run)["tool"]["driver"]
    assert [rule["id"] for rule in driver["rules"]] == list(RULES)
    for rule in driver["rules"]:
        assert 0 < len(rule["shortDescription"]["text"]) <= 1024
        assert 0 < len(rule["fullDescription"]["text"]) <= 1024
        assert rule["help"]["text"] and rule["help"]["markdown"].startswith(f"# {rule['id']}\n")
        assert "<!--" not in rule["help"]["markdown"]
    result = log(run)["results"][0]
    assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]


def test_the_fingerprint_is_the_line_not_its_number(log, run, finding, here):
    def fingerprints(site):
        return log(replace(run, findings=(replace(finding, site=site),)))["results"][0]["partialFingerprints"]

    before = fingerprints(finding.site)
    text = (here / "train.py").read_text()
    (here / "train.py").write_text("# a new line above\n\n" + text)
    import linecache

    linecache.clearcache()
    after = fingerprints(Site.read(str(here / "train.py"), 6, "update"))
    assert before == after
    other = fingerprints(Site.read(str(here / "train.py"), 7, "update"))
    assert other["primaryLocationLineHash"] != before["primaryLocationLineHash"]
    assert other["whygradCause/v1"] != before["whygradCause/v1"]


def test_lines_are_hashed_as_github_does():
    # The values are those that its upload action computes for these texts.
    assert line_hashes("") == ["c129715d7a2bc9a3:1"]
    assert line_hashes(" a\nb\n  \t\tc\n d") == [
        "271789c17abda88f:1",
        "54703d4cd895b18:1",
        "180aee12dab6264:1",
        "a23a3dc5e078b07b:1",
    ]
    one = line_hashes(" hello; \t\nworld!!!\n\n\n  \t\tGreetings\n End\n")
    assert one[0] == "e9496ae3ebfced30:1"
    assert line_hashes(" hello; \t\r\nworld!!!\r\n\r\n\r\n  \t\tGreetings\r\n End\r\n") == one
    repeated = line_hashes("Lorem ipsum dolor sit amet.\n" * 10)
    assert repeated[:2] == ["a7f2ff13bc495cf2:1", "a7f2ff13bc495cf2:2"]
    assert repeated[6] == "a7f2ff1481e87703:1"


def test_the_exception_and_the_notes_are_notifications(log, run, at):
    internal = Note("whygrad could not judge", None, "internal")
    run = replace(run, started="2026-03-01T10:00:00+02:00", pid=42, notes=(*run.notes, internal))
    (invocation,) = log(run)["invocations"]
    assert invocation["exitCode"] == 1
    assert invocation["executionSuccessful"] is False
    assert (invocation["startTimeUtc"], invocation["endTimeUtc"]) == (
        "2026-03-01T08:00:00Z",
        "2026-03-01T08:00:01Z",
    )
    raised, right, seen, ours = invocation["toolExecutionNotifications"]
    assert raised["exception"] == {"kind": "RuntimeError", "message": "element 0 of tensors\nmore"}
    assert raised["locations"][0]["physicalLocation"]["region"]["startLine"] == 7
    assert (right["level"], seen["level"], ours["level"]) == ("note", "note", "error")
    assert right["locations"][0]["physicalLocation"]["region"]["startLine"] == 5


def test_a_script_that_fails_is_no_failure_of_ours(log, run):
    (invocation,) = log(run)["invocations"]
    assert invocation["executionSuccessful"] is True


def test_a_healthy_run_has_an_empty_list(log):
    assert log(Run("train.py"))["results"] == []


def test_a_finding_in_a_library_is_shown_at_the_users_line(log, run, finding, at):
    away = Site("/elsewhere/site-packages/lib/x.py", 9, "f", "y = x.detach()")
    found = replace(finding, site=away, chain=(Step("w"), Step(".detach()", away, True), Step("loss", at(6))))
    (result,) = log(replace(run, findings=(found,)))["results"]
    home = result["locations"][0]["physicalLocation"]
    assert home["artifactLocation"]["uri"] == "train.py" and home["region"]["startLine"] == 6
    assert "(lib/x.py:9)" in result["message"]["text"]
    related = [p["physicalLocation"]["artifactLocation"] for p in result["relatedLocations"]]
    assert {"uri": "file:///elsewhere/site-packages/lib/x.py"} in related


def test_files_are_named_from_the_repository(log, run, finding, here):
    (here / "a b" / "c").mkdir(parents=True)
    (here / "a b" / "c" / "träin.py").write_text("x = y.detach()\n")
    site = Site.read(str(here / "a b" / "c" / "träin.py"), 1)
    only = log(replace(run, findings=(replace(finding, site=site),)), root=str(here / "a b"))
    place = only["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": "c/tr%C3%A4in.py", "uriBaseId": "%SRCROOT%"}
    assert only["originalUriBaseIds"]["%SRCROOT%"]["uri"].endswith("/a%20b/")


@pytest.mark.parametrize(
    "site", [None, Site("<string>", 1), Site("gone.py", 0), Site("gone.py", 7, "f", "x = 1")]
)
def test_odd_places_stay_valid(log, run, finding, site):
    found = replace(finding, site=site, chain=(), why="see q[0](s) and {x}", confidence=Confidence.LIKELY)
    (result,) = log(replace(run, findings=(found,)))["results"]
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] >= 1
    assert "This is likely, not certain." in result["message"]["text"]
    assert r"q\[0](s)" in result["message"]["text"]


@pytest.mark.parametrize("severity", list(Severity))
def test_levels(log, run, finding, severity):
    (result,) = log(replace(run, findings=(replace(finding, severity=severity),)))["results"]
    assert result["level"] == str(severity)
