"""Fills the generated part of README.md and docs/index.md: the demo's real output.

python scripts/readme_sample.py            write them
python scripts/readme_sample.py --check    exit code 1 if they are not current
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
START = ROOT / "docs" / "index.md"  # the first page of the site
DEMO = "examples/broken_actor_critic.py"


def demo_output() -> str:
    """What whygrad says about the demo, 88 columns wide and without colour."""
    environment = {**os.environ, "COLUMNS": "88", "NO_COLOR": "1"}
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "-m", "whygrad", "run", "--out", out, DEMO]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    return portable(done.stderr)


def portable(text: str) -> str:
    """The report without what differs from machine to machine."""
    text = re.sub(r"^whygrad: the report is in .*\n", "", text, flags=re.MULTILINE)
    return re.sub(r"(PyTorch \d+\.\d+)[\w.+]*", r"\1", text).strip()


def with_sample(page: str, sample: str) -> str:
    """The page with the demo's output in place."""
    return _between(page, "sample", f"```\n$ whygrad run {DEMO}\n{sample}\n```")


def _between(text: str, name: str, content: str) -> str:
    start, end = f"<!-- {name}:start -->", f"<!-- {name}:end -->"
    head, found, rest = text.partition(start)
    _, closed, tail = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"README.md has no {start} ... {end}")
    return f"{head}{start}\n{content}\n{end}{tail}"


def main(argv: list[str]) -> int:
    """Write, or check."""
    sample, old = demo_output(), {page: page.read_text(encoding="utf-8") for page in (README, START)}
    new = {page: with_sample(text, sample) for page, text in old.items()}
    if "--check" in argv:
        if new != old:
            print(
                "README.md or docs/index.md is not current: python scripts/readme_sample.py", file=sys.stderr
            )
        return int(new != old)
    for page, text in new.items():
        page.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
