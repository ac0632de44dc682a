"""What other programs read: SARIF, workflow commands, the job's summary, TensorBoard's text, the list of runs."""

from __future__ import annotations

import json

import pytest
from tests.events import load

HEALTHY = "import fakeframe\nfakeframe.step()\nprint('done')\n"

CUT = """
import torch
actor, critic = torch.nn.Linear(4, 2), torch.nn.Linear(2, 1)
actor_opt = torch.optim.SGD(actor.parameters(), lr=1e-3)
critic_opt = torch.optim.SGD(critic.parameters(), lr=1e-3)
for update in range(20):
    action = actor(torch.ones(8, 4)).detach()
    loss = -critic(action).mean() + 0.1 * critic.weight.pow(2).sum()
    actor_opt.zero_grad()
    critic_opt.zero_grad()
    loss.backward()
    actor_opt.step()
    critic_opt.step()
"""


def test_sarif_and_annotations_of_one_run(lab):
    lab.write(HEALTHY)
    lab.env |= {
        "GITHUB_WORKSPACE": str(lab.folder.parent),
        "GITHUB_STEP_SUMMARY": str(lab.folder / "page.md"),
    }
    (lab.folder / "page.md").write_text("# before\n")
    done = lab.fake("run", "--quiet", "--sarif", "out.sarif", "--github", "train.py", findings="error note")
    assert done.stdout == "done\n"
    name = lab.folder.name
    error, note = done.stderr.splitlines()
    assert error.startswith(
        f"::error file={name}/train.py,line=1,col=1,endColumn=16,title=detached%3A it is cut::"
    )
    assert note.startswith("::notice file=")
    (log,) = json.loads((lab.folder / "out.sarif").read_text())["runs"]
    assert [result["level"] for result in log["results"]] == ["error", "note"]
    place = log["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place["uri"] == f"{name}/train.py"
    assert log["invocations"][0]["exitCode"] == 0
    page = (lab.folder / "page.md").read_text()
    assert page.startswith("# before\n## whygrad: train.py")
    assert "### error: it is cut" in page


def test_nothing_of_it_unless_it_is_asked_for(lab):
    lab.write(HEALTHY)
    lab.env |= {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(lab.folder / "page.md")}
    done = lab.fake("run", "train.py", findings="error")
    assert "::error" not in done.stderr
    assert not (lab.folder / "page.md").exists()


def test_check_has_the_same_options(lab):
    lab.write(HEALTHY)
    done = lab.fake("check", "--quiet", "--sarif", "-", "--github", "train.py", findings="warning")
    assert done.code == 1
    assert json.loads(done.stdout.partition("done\n")[2])["version"] == "2.1.0"
    assert done.stderr.startswith("::warning file=train.py,line=1,")


@pytest.mark.parametrize("option", ["--sarif", "--json"])
def test_a_file_that_cannot_be_written_is_one_sentence(lab, option):
    lab.write(HEALTHY)
    done = lab.fake("run", "--quiet", option, "no/such/folder/x", "train.py")
    assert (done.stdout, done.code) == ("done\n", 0)
    assert done.stderr.startswith("whygrad: no/such/folder/x could not be written: ")
    assert len(done.stderr.splitlines()) == 1


def test_a_summary_that_cannot_be_written_costs_no_annotation(lab):
    lab.write(HEALTHY)
    lab.env["GITHUB_STEP_SUMMARY"] = str(lab.folder / "no" / "page.md")
    done = lab.fake("run", "--quiet", "--github", "train.py", findings="error")
    error, sentence = done.stderr.splitlines()
    assert error.startswith("::error ")
    assert sentence.startswith("whygrad: the summary of the job could not be written: ")


def test_only_one_of_them_can_be_printed(lab):
    lab.write(HEALTHY)
    done = lab.whygrad("run", "--json", "-", "--sarif", "-", "train.py")
    assert (done.code, done.stdout) == (2, "")
    assert "--json - and --sarif - cannot both be printed" in done.stderr


def test_runs_lists_what_there_is(lab):
    done = lab.whygrad("runs")
    assert (done.code, done.stdout) == (0, "there is no run in runs yet: whygrad run train.py makes one\n")
    lab.write(HEALTHY)
    lab.fake("run", "--quiet", "train.py", "--lr", "1")
    lab.fake("run", "--quiet", "--out", "runs/second", "train.py", findings="error")
    (lab.folder / "runs" / "broken").mkdir()
    (lab.folder / "runs" / "broken" / "report.json").write_text('{"format": 1, "why')
    (lab.folder / "runs" / "notes").mkdir()
    lab.env["COLUMNS"] = "120"
    done = lab.whygrad("runs")
    assert done.code == 0
    _, *rows = done.stdout.splitlines()
    assert len(rows) == 3
    assert any("train.py --lr 1" in row and "finished" in row and "healthy" in row for row in rows)
    assert any(row.endswith("runs/second") and "1 error: detached, line 1" in row for row in rows)
    assert any(row.endswith("runs/broken") and "damaged" in row for row in rows)
    listed = json.loads(lab.whygrad("runs", "--json").stdout)
    assert {run["folder"]: run["ended"] for run in listed}["runs/broken"] == "damaged"
    assert lab.whygrad("runs", "runs/second").stdout.splitlines()[1].endswith("runs/second")


def test_runs_of_a_folder_that_is_not_there(lab):
    done = lab.whygrad("runs", "nowhere")
    assert (done.code, done.stdout) == (2, "")
    assert done.stderr == "whygrad: there is no folder 'nowhere'\n"


@pytest.mark.forked("torch")
@pytest.mark.torch
def test_tensorboard_shows_what_was_found(lab):
    lab.write(CUT)
    lab.whygrad("run", "--every", "5", "--out", "out", "train.py")
    events = load(lab.folder / "out")
    assert {"whygrad/findings", "whygrad/who trains whom"} <= set(events.Tags()["tensors"])
    assert events.SummaryMetadata("whygrad/findings").plugin_data.plugin_name == "text"
    event = events.Tensors("whygrad/findings")[-1]
    assert event.step == 20
    page = event.tensor_proto.string_val[0].decode()
    assert page.startswith("**1 error in train.py (40 updates, ")
    assert "### error: actor gets no gradient: cut by .detach()" in page
    assert "> 6  " in page and "action = actor(torch.ones(8, 4)).detach()" in page
    assert "- **fix**: write `action = actor(torch.ones(8, 4))`" in page
    table = events.Tensors("whygrad/who trains whom")[-1].tensor_proto.string_val[0].decode()
    assert table.startswith("| term of the loss | line | stepped by | critic |\n")
    assert not list((lab.folder / "out").glob(".*part"))


@pytest.mark.forked("torch")
@pytest.mark.torch
def test_tensorboard_makes_a_page_of_it(lab):
    """Its own Markdown, which is not GitHub's: tables and code come out as such."""
    from tensorboard.plugin_util import markdown_to_safe_html

    lab.write(CUT)
    lab.whygrad("run", "--every", "5", "--out", "out", "train.py")
    events = load(lab.folder / "out")

    def page(tag):
        return markdown_to_safe_html(events.Tensors(tag)[-1].tensor_proto.string_val[0])

    assert "<table>" in page("whygrad/who trains whom")
    found = page("whygrad/findings")
    assert "<pre><code" in found and "<h3>" in found and "<li>" in found
    assert "\\" not in found
