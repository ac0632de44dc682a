"""Every command in a fence of the README and of docs/ is accounted for.

It is run here, run by another test, or a target of make. Those of a page are typed in their order, in a folder that
has what the pages take for granted: a train.py, a model, vectors.
"""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from scripts import tutorials
from tests.choosing import mostly_long, selected
from tests.docs import running

pytestmark = [
    pytest.mark.skipif(not running.HERE, reason="needs PyTorch and TensorFlow"),
]

ROOT = Path(__file__).parents[2]
AGENTS, SMALL = ROOT / "src" / "whygrad" / "zoo" / "agents", ROOT / "tests" / "data" / "small"
TUTORIALS = ROOT / "docs" / "tutorials"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
FEW_FRAMES = "--filters 8 --units 8 --epsilon 1,1 --steps 2020 --replay 2000 --prefill 2000"
FEW_STEPS = "--steps 600 --learning-starts 200 --gradient-steps 8 --eval-episodes 1"

# What takes minutes is run with options added that make it short. The test checks that nothing else is changed.
SHORTER = {
    "whygrad train dqn --env CartPole-v1 --seed 1 --steps 50000": FEW_STEPS,
    "whygrad train dqn --seed 1": FEW_STEPS,
    "whygrad train dqn --checkpoint c.npz": FEW_STEPS,
    "python snake_dqn.py --save snake": "--height 5 --width 5 --filters 8 --units 8 --steps 80 --prefill 70",
    "python snake_dqn.py --height 5": FEW_FRAMES,
    "whygrad snake play five": "--games 1 --fps 1000",
    "whygrad snake play five --gif": "--games 1",
}
# What another test runs: the file, and what stands in it.
ELSEWHERE = {
    "whygrad run examples/broken_actor_critic.py": ("test_readme.py", "script.demo_output()"),
    "whygrad fix examples/broken_actor_critic.py": (
        "../integration/test_fix.py",
        "# whygrad fix examples/broken_actor_critic.py",
    ),
    "whygrad probe mine.py:make_agent": ("../learning/test_probes.py", '"probe", "mine.py:make_agent"'),
    "whygrad report runs/one --open": ("../report/test_files.py", '"report", "one", "--open"'),
    "whygrad run --live train.py": ("../report/test_live.py", '"run", "--at-end", "--live"'),
    "whygrad live runs/one": ("../report/test_live.py", '"whygrad", "live"'),
    "whygrad probe dqn": ("../learning/test_probes.py", 'whygrad("probe", what'),
    "whygrad train dqn --break target-never-synced": (
        "../learning/test_breaking.py",
        "whygrad train {name} --break {rule}",
    ),
}
# What has to be there before.
BEFORE = {
    "whygrad summarize DIR": ("DIR",),
    "whygrad summarize runs/somebody-elses": ("runs/somebody-elses",),
    "whygrad report runs/one --to it.html": ("runs/one",),
    "whygrad compare runs/sick runs/healthy": ("runs/sick", "runs/healthy"),
    "whygrad judge runs/one": ("runs/one",),
}
IN_TENSORFLOW = re.compile("whygrad (convert|parity|snake)|python snake_dqn.py")

TRAIN = """
import argparse
import torch
parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=1e-3)
net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=parser.parse_args().lr)
for _ in range(120):
    loss = torch.nn.functional.mse_loss(net(torch.randn(16, 3)), torch.randn(16, 1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def commands(page):
    """The commands in the fences of a page, without their comments."""
    found = []
    for fence in tutorials.FENCE.finditer(page.read_text(encoding="utf-8")):
        text = re.sub(r"\\\n\s*", "", fence["body"]) if fence["info"] in ("", "console") else ""
        lines = re.findall(r"^(?:\$ )?((?:whygrad|make|python)(?: .*)?)$", text, re.MULTILINE)
        found += [shlex.join(shlex.split(line, comments=True)) for line in lines]
    return found


EVERY = [(page, command) for page in PAGES for command in dict.fromkeys(commands(page))]


def furnish(folder):
    """What the pages take for granted: a script, a model, vectors, the files of a run."""
    (folder / "train.py").write_text(TRAIN)
    (folder / "my_port.py").write_text(
        (ROOT / "tests/parity/port_keras.py").read_text() + "\n\nbuild = make_model\n"
    )
    for name in ("vectors", "VECTORS"):
        shutil.copytree(SMALL, folder / name)
    for file in (SMALL / "online").iterdir():
        shutil.copy(file, folder)
    shutil.copy(AGENTS / "snake_dqn.py", folder)


def shortened(command):
    """The command as it is run here."""
    more = [options for begin, options in SHORTER.items() if command.startswith(begin)]
    return " ".join([command, *more[-1:]])


def is_here(page, command):
    """Whether this test runs it."""
    in_tutorial = page.parent == TUTORIALS and (
        command in tutorials.commands(page.read_text()) or command.startswith("python -m pytest test_")
    )
    return not command.startswith("make") and command not in ELSEWHERE and not in_tutorial


@pytest.fixture(scope="module")
def done(tmp_path_factory, request):
    """What came of every command that is run here, on the pages that are asked for."""
    folders, jobs, pages = {}, {}, selected(request, "page")
    for page, command in [row for row in EVERY if row[0] in pages]:
        if page not in folders:
            furnish(folder := tmp_path_factory.mktemp(page.stem))
            folders[page] = folder
        framework = "tensorflow" if IN_TENSORFLOW.match(command) else "torch"
        for run in BEFORE.get(command, ()):
            made = f"whygrad run --quiet --every 5 --out {run} train.py"
            jobs[page, made] = running.Job(folders[page], made)
        if is_here(page, command):
            jobs[page, command] = running.Job(folders[page], shortened(command), framework)
    return dict(zip(jobs, running.run_all(list(jobs.values())), strict=True))


HERE = [(page, command) for page, command in EVERY if is_here(page, command)]


@pytest.mark.parametrize(
    "page, command",
    mostly_long(HERE, lambda row: row[0].name == "README.md"),
    ids=[f"{p.stem}: {c}" for p, c in HERE],
)
def test_it_runs(page, command, done):
    assert done[page, command].code == 0, done[page, command].stderr[-2000:]


def test_there_are_commands():
    assert len(HERE) > 25 and {page.name for page, _ in EVERY} >= {"README.md", "index.md", "watch.md"}


@pytest.mark.parametrize("command", ELSEWHERE)
def test_it_is_run_elsewhere(command):
    file, text = ELSEWHERE[command]
    assert text in (Path(__file__).parent / file).read_text()
    assert command in [c for _, c in EVERY], "no page has it any more"


@pytest.mark.parametrize("command", SHORTER)
def test_what_is_shortened_is_on_a_page(command):
    assert any(c.startswith(command) for _, c in EVERY), "no page has it any more"


TARGETS = sorted({command for _, command in EVERY if command.startswith("make")})


@pytest.mark.parametrize("command", TARGETS)
def test_make_knows_it(command):
    """Not run: it would make an environment of its own. What it would do is asked for."""
    words = shlex.split(command)
    asked = subprocess.run([*words, "--dry-run"], cwd=ROOT, capture_output=True, text=True)
    assert asked.returncode == 0, asked.stderr


def test_the_tests_of_the_tutorials_are_run_with_them():
    typed = {c for page, c in EVERY if page.parent == TUTORIALS and "pytest" in c}
    files = {
        f
        for page in TUTORIALS.glob("*.md")
        for f in tutorials.files(page.read_text())
        if f.startswith("test_")
    }
    assert typed == {f"python -m pytest {file}" for file in files}
