"""The examples of the rule pages, each in a small training script, run under ``whygrad check``.

The scripts are in programs/, one per rule; the example goes where the line ``EXAMPLE`` is. Each runs in a process of
its own: a child of one that has imported the framework already, which is what takes long.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whygrad.rules.rule import Page
from whygrad.rules.table import RULES

PROGRAMS = Path(__file__).parent / "programs"
WHOLE = ("exploding", "oscillating")  # seen over more updates than a check waits for
IN_TENSORFLOW = {
    "outside-tape": "there is no tape in PyTorch",
    "stale-closure": "torch.compile needs a C++ compiler",
}
FRAMEWORKS = {slug: "tensorflow" if slug in IN_TENSORFLOW else "torch" for slug in RULES}
ENVIRONMENT = {
    "COLUMNS": "88",
    "NO_COLOR": "1",
    "OMP_NUM_THREADS": "1",
    "CUDA_VISIBLE_DEVICES": "",
    "TF_CPP_MIN_LOG_LEVEL": "3",
}

DRIVER = """
import os, sys
if sys.argv[1] == "torch":
    import torch
    torch.set_num_threads(1)
    torch.optim.Adam([torch.zeros(1, requires_grad=True)]).step()  # imports half of torch
else:
    import keras, tensorflow
for folder in sys.argv[2:]:
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        output = os.open("output.txt", os.O_CREAT | os.O_WRONLY)
        os.dup2(output, 1), os.dup2(output, 2)
        from whygrad.cli.main import main
        verb = "run" if os.path.exists("whole") else "check"
        sys.exit(main([verb, "--out", "out", "train.py"]))
    os.waitpid(child, 0)
"""


@dataclass(frozen=True)
class Seen:
    """What came of one example."""

    report: dict[str, Any]
    output: str


def example(page: Page, kind: str) -> str:
    """The page's ``bad`` or ``good`` example in the framework in which it is run."""
    if FRAMEWORKS[page.slug] == "tensorflow" and page.bad_tensorflow:
        kind = f"{kind}_tensorflow"
    return getattr(page, kind)


def program(slug: str, code: str) -> str:
    """The example in its training script."""
    folder = PROGRAMS / "tensorflow" if FRAMEWORKS[slug] == "tensorflow" else PROGRAMS
    script = (folder / f"{slug.replace('-', '_')}.py").read_text()
    filled = re.sub(
        r"^( *)EXAMPLE$", lambda place: textwrap.indent(code, place[1]), script, flags=re.MULTILINE
    )
    return f"{(folder / 'common.py').read_text()}\n{filled}"


def run_all(root: Path, kinds: tuple[str, ...] = ("bad", "good")) -> dict[tuple[str, str], Seen]:
    """What whygrad says to every example, by rule and kind."""
    folders = {(slug, kind): root / f"{slug}-{kind}" for slug in RULES for kind in kinds}
    for (slug, kind), folder in folders.items():
        folder.mkdir()
        (folder / "whole").touch() if slug in WHOLE else None
        (folder / "train.py").write_text(program(slug, example(RULES[slug].page, kind)))
    for framework in ("torch", "tensorflow"):
        mine = [str(folder) for (slug, _), folder in folders.items() if FRAMEWORKS[slug] == framework]
        command = [sys.executable, "-c", DRIVER, framework, *mine]
        subprocess.run(command, env={**os.environ, **ENVIRONMENT}, capture_output=True, timeout=600)
    return {key: _seen(folder) for key, folder in folders.items()}


def _seen(folder: Path) -> Seen:
    report = json.loads((folder / "out" / "report.json").read_text())
    return Seen(report, (folder / "output.txt").read_text())


def sample(slug: str, output: str) -> str:
    """The finding of this rule as it stands in the output, and nothing else of it."""
    lines = output.splitlines()
    start = next(n for n, line in enumerate(lines) if re.match(rf"(error|warning)\[{slug}\] ", line))
    block = [lines[start]]
    for line in lines[start + 1 :]:
        if line and not line.startswith(" "):
            break
        block.append(line)
    return "\n".join(block).rstrip() + "\n"


def without_figures(text: str) -> str:
    """The text without what was measured: that differs a little from processor to processor."""
    return re.sub(r"\d+(\.\d+)?e[-+]\d+|\d+\.\d+|(?<=update )\d+|\d[\d,]*(?= updates?\b)", "N", text)
