"""The examples of the rule pages, each in a small training script, run under ``whygrad check``.

The scripts are in programs/, one per rule; the example goes where the line ``EXAMPLE`` is.
"""

from __future__ import annotations

import itertools
import json
import re
import textwrap
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.docs import running

from whygrad.rules.rule import Page
from whygrad.rules.table import RULES

PROGRAMS = Path(__file__).parent / "programs"
CASES = Path(__file__).parents[1] / "cases"
WHOLE = (  # seen over more updates than a check waits for
    "exploding",
    "oscillating",
    "ranks-diverge",
    "scaled-by-ranks",
    "target-unused",
    "unmasked-bootstrap",
    "unused-in-ddp",
    "unused-on-ranks",
)
IN_TENSORFLOW = {
    "outside-tape": "there is no tape in PyTorch",
    "stale-closure": "torch.compile needs a C++ compiler",
}
FRAMEWORKS = {slug: "tensorflow" if slug in IN_TENSORFLOW else "torch" for slug in RULES}


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


def program(slug: str, kind: str) -> str:
    """The example in its training script; a rule without one shows its first labelled case."""
    folder = PROGRAMS / "tensorflow" if FRAMEWORKS[slug] == "tensorflow" else PROGRAMS
    place = folder / f"{slug.replace('-', '_')}.py"
    if not place.exists():
        return min((CASES / FRAMEWORKS[slug] / kind).glob(f"{place.stem}_*.py")).read_text()
    script, code = place.read_text(), example(RULES[slug].page, kind)
    filled = re.sub(
        r"^( *)EXAMPLE$", lambda place: textwrap.indent(code, place[1]), script, flags=re.MULTILINE
    )
    return f"{(folder / 'common.py').read_text()}\n{filled}"


def run_all(
    root: Path, kinds: tuple[str, ...] = ("bad", "good"), slugs: Container[str] = RULES
) -> dict[tuple[str, str], Seen]:
    """What whygrad says to every example of these rules, by rule and kind."""
    jobs = {}
    for slug, kind in itertools.product(filter(slugs.__contains__, RULES), kinds):
        (folder := root / f"{slug}-{kind}").mkdir()
        (folder / "train.py").write_text(program(slug, kind))
        verb = "run" if slug in WHOLE else "check"
        jobs[slug, kind] = running.Job(folder, f"whygrad {verb} --out out train.py", FRAMEWORKS[slug])
    done = running.run_all(list(jobs.values()))
    return {key: _seen(job, one.stderr) for (key, job), one in zip(jobs.items(), done, strict=True)}


def _seen(job: running.Job, output: str) -> Seen:
    return Seen(json.loads((job.folder / "out" / "report.json").read_text()), output)


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
