"""``whygrad fix`` on real programs: what is shown has been run, what is written is what was shown."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

import pytest

pytest.importorskip("libcst")
pytestmark = pytest.mark.forked("torch")


ROOT = Path(__file__).parents[2]
DEMO = "examples/broken_actor_critic.py"
AGENT = """
    import torch
    from torch import nn


    class Agent(nn.Module):
        def __init__(self):
            super().__init__()
            self.body, self.head = nn.Linear(4, 16), nn.Linear(16, 1)

        def forward(self, x):
            return self.head(torch.relu(self.body(x)).detach())  # a constant
"""
TRAIN = """
    import torch
    from parts.agent import Agent

    torch.manual_seed(0)
    agent = Agent()
    optimizer = torch.optim.Adam(agent.parameters(), lr=1e-3)
    for _ in range(30):
        x = torch.randn(16, 4)
        loss = (agent(x) - x.sum(1, keepdim=True)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.fixture
def project(lab):
    """A script, and the module of it that has the fault."""
    lab.write(TRAIN)
    lab.write(AGENT, "parts/agent.py")
    lab.write("", "parts/__init__.py")
    return lab


def changed(diff):
    """The lines that go and come."""
    return [line for line in diff.splitlines() if re.match(r"[+-](?![+-]{2} )", line)]


def test_the_demo_as_the_page_shows_it(lab):
    lab.env["COLUMNS"] = "88"
    shutil.copytree(ROOT / "examples", lab.folder / "examples")
    done = lab.whygrad("fix", DEMO)  # whygrad fix examples/broken_actor_critic.py
    said = re.sub(r"\nit took .*\nto write it .*\n$", "", done.stdout)
    assert f"```\n$ whygrad fix {DEMO}\n{said}\n```" in (ROOT / "docs" / "fix.md").read_text()
    assert done.code == 1  # the file is as it was
    assert "checking" in done.stderr and "trying leave out" in done.stderr


def test_a_module_of_the_user_s_is_changed_and_nothing_else(project):
    before = (project.folder / "train.py").read_bytes()
    done = project.whygrad("fix", "--apply", "--json", "fixes.json", "--out", "out", "train.py")
    assert done.code == 0, done.stdout + done.stderr
    agent = (project.folder / "parts" / "agent.py").read_text()
    assert "self.head(torch.relu(self.body(x)))  # a constant" in agent
    assert (project.folder / "train.py").read_bytes() == before
    told = json.loads((project.folder / "fixes.json").read_text())
    assert told["applied"] and told["files"] == [str(Path("parts", "agent.py"))]
    assert project.whygrad("check", "train.py").code == 0


@pytest.mark.long
def test_what_was_proven_stands_beside_its_finding_everywhere(project):
    done = project.whygrad("fix", "--diff", "--out", "out", "train.py")
    assert changed(done.stdout) == [
        "-        return self.head(torch.relu(self.body(x)).detach())  # a constant",
        "+        return self.head(torch.relu(self.body(x)))  # a constant",
    ]
    report = json.loads((project.folder / "out" / "report.json").read_text())
    assert report["findings"][0]["patch"]["diff"] == done.stdout
    judged = project.whygrad("judge", "out", "--sarif", "it.sarif")
    assert "proven leave out" in judged.stdout
    [result] = json.loads((project.folder / "it.sarif").read_text())["runs"][0]["results"]
    [change] = result["fixes"][0]["artifactChanges"]
    assert change["artifactLocation"]["uri"] == "parts/agent.py"
    assert ".detach()" not in change["replacements"][0]["insertedContent"]["text"]
    assert project.whygrad("report", "out").code == 0
    assert 'class="copy"' in (project.folder / "out" / "report.html").read_text()
    assert project.do("git", "init", "-q").code == 0
    (project.folder / "it.diff").write_text(done.stdout)
    assert project.do("git", "apply", "it.diff").code == 0


@pytest.mark.long
def test_a_library_is_never_touched(project):
    """The same module, installed."""
    site = project.folder / "lib" / "site-packages"
    site.mkdir(parents=True)
    shutil.move(project.folder / "parts", site / "parts")
    before = (site / "parts" / "agent.py").read_bytes()
    project.env["PYTHONPATH"] = f"{project.env.get('PYTHONPATH', '')}:{site}"
    done = project.whygrad("fix", "--apply", "train.py")
    assert done.code == 1
    assert "is not your file: it is never changed" in done.stdout.replace("\n    ", " ")
    assert (site / "parts" / "agent.py").read_bytes() == before


@pytest.mark.long
def test_a_healthy_program_has_nothing_to_fix(project):
    project.write(AGENT.replace(".detach()", ""), "parts/agent.py")
    done = project.whygrad("fix", "train.py")
    assert done.code == 0 and "nothing to fix" in done.stdout


@pytest.mark.long
def test_an_ignored_finding_is_not_fixed_and_is_counted(project):
    project.write(AGENT.replace("# a constant", "# whygrad: ignore[detached]"), "parts/agent.py")
    done = project.whygrad("check", "train.py")
    assert done.code == 0 and "1 finding is ignored: detached at line 11 (comment)" in done.stderr
    assert "nothing to fix" in project.whygrad("fix", "train.py").stdout


@pytest.mark.long
def test_a_project_chooses_its_rules(project):
    project.write('[tool.whygrad]\nignore = ["detached", "no-such-rule"]\n', "pyproject.toml")
    done = project.whygrad("check", "train.py")
    assert done.code == 0 and "(ignore, pyproject.toml)" in done.stderr.replace("\n", " ")
    assert "there is no such rule" in done.stderr
    assert project.whygrad("check", "--select", "detached", "train.py").code == 0  # ignore still holds
    assert project.whygrad("check", "--ignore", "frozen", "train.py").code == 1  # the command line wins
    assert project.whygrad("check", "--ignore", "nonsense", "train.py").code == 2


def test_without_libcst_it_says_what_to_install(project):
    project.write("raise ImportError", "libcst.py")
    project.write(
        "import sys\nsys.modules['libcst'] = None\nfrom whygrad.cli.main import main\nsys.exit(main())",
        "m.py",
    )
    done = project.do(sys.executable, "m.py", "fix", "train.py")
    assert done.code == 2 and "whygrad[fix]" in done.stderr
