"""Writes docs/rules/samples: what whygrad says to the bad example of each rule page.

python scripts/rule_samples.py             all of them
python scripts/rule_samples.py SLUG ...    those of these rules

Then `python -m whygrad.rules.pages docs/rules` puts them onto the pages.

That they are current is checked by tests/docs/test_examples.py, which runs the examples anyway.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.docs import examples  # noqa: E402

from whygrad.rules.table import RULES  # noqa: E402

SAMPLES = ROOT / "docs" / "rules" / "samples"


def main(slugs: list[str]) -> int:
    """Run the bad examples, of these rules or of all, and keep their findings."""
    with tempfile.TemporaryDirectory() as scratch:
        seen = examples.run_all(Path(scratch), kinds=("bad",), slugs=slugs or RULES)
    SAMPLES.mkdir(parents=True, exist_ok=True)
    for old in SAMPLES.iterdir() if not slugs else ():
        old.unlink()
    for (slug, _), one in seen.items():
        (SAMPLES / f"{slug}.txt").write_text(examples.sample(slug, one.output), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
