"""Measures the scripts of tests/libraries with what is installed, and writes docs/libraries.md.

python scripts/libraries.py            `make libraries` runs it in an environment of its own
"""

from __future__ import annotations

import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.libraries.measuring import HERE, LABELS, Measured, measure, missing  # noqa: E402

WORKERS = 2
PAGE = ROOT / "docs" / "libraries.md"
HEAD = """\
# Libraries

Most agents are not single files: the loop is a library's, and the mistake is in twenty lines of yours.
`whygrad run train.py` needs no edit for that, and names the networks and the losses as far as your own
variables reach.

`make libraries` makes an environment with the libraries below, runs the scripts of `tests/libraries` with
and without whygrad, and writes this page. Half of the scripts are as the libraries' own documentation shows
them, the other half has one mistake.

- **Healthy silent**: called healthy, with nothing to add.
- **Mistakes found**: an error or a warning that names the cause.
- **Your line**: of those, where the finding has the line in your file, as its place or on the way. An empty
  group of rewards, a coefficient of zero and masked labels show up in the library's arithmetic, and are
  shown there.
- **Bits equal**: the weights at the end, with and without whygrad, over all scripts of that row.

| library | version | healthy silent | mistakes found | your line | bits equal |
|---|---|---|---|---|---|
"""


def rows(measured: list[tuple[dict[str, Any], Measured, Measured]]) -> list[str]:
    """The table, one row for each library."""
    found = []
    for library in dict.fromkeys(label["library"] for label, _, _ in measured):
        mine = [row for row in measured if row[0]["library"] == library]
        of = len(mine)
        silent = sum(good.silent for _, good, _ in mine)
        right = sum(bad.found(label) for label, _, bad in mine)
        lines = [(label, bad) for label, _, bad in mine if label["line"] and bad.found(label)]
        line = sum(bad.at_the_line(label) for label, bad in lines)
        equal = sum(good.equal + bad.equal for _, good, bad in mine)
        cells = (
            library,
            version(library),
            f"{silent} of {of}",
            f"{right} of {of}",
            f"{line} of {len(lines)}" if lines else "-",
            f"{equal} of {2 * of}",
        )
        found.append("| " + " | ".join(cells) + " |")
    return found


def twins(label: dict[str, Any], scratch: Path) -> tuple[dict[str, Any], Measured, Measured] | None:
    """Both scripts of one name; nothing if a library is missing."""
    if gone := missing(label):
        print(f"left out: {label['name']} needs {', '.join(gone)}", flush=True)
        return None
    good, bad = (measure(HERE / k / f"{label['name']}.py", scratch / k) for k in ("good", "bad"))
    said = ", ".join(f["rule"] for f in bad.report["findings"]) or bad.report["verdict"]
    print(f"{label['name']}: silent {good.silent}, equal {good.equal and bad.equal}, {said}", flush=True)
    return label, good, bad


def main() -> int:
    """Run them all; what cannot be run here is said and left out."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(WORKERS) as pool:
        done = list(pool.map(lambda label: twins(label, Path(folder) / label["name"]), LABELS))
    measured = [row for row in done if row is not None]
    missed = [f"- `{label['name']}`: {label['missed']}." for label, _, _ in measured if label["missed"]]
    text = HEAD + "\n".join(rows(measured)) + f"\n\nWith PyTorch {version('torch')}.\n"
    if missed:
        text += "\nMissed, as a whole or in part:\n\n" + "\n".join(missed) + "\n"
    PAGE.write_text(text, encoding="utf-8")
    print(f"written: {PAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
