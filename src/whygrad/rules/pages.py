"""Writes docs/rules from the rules: ``python -m whygrad.rules.pages docs/rules``; ``--check`` compares.

What whygrad says to an example is in ``samples/SLUG.txt`` beside the pages, from scripts/rule_samples.py.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from whygrad.rules.rule import Page
from whygrad.rules.table import FAMILIES, RULES, by_family

_GENERATED = "<!-- Generated from src/whygrad/rules by `make docs-rules`; edit the rule, not this page. -->"
_LEAD = "To the bad example, as part of a small training script:"


def page(content: Page, sample: str = "") -> str:
    """The Markdown page of one rule, with what whygrad says to its bad example."""
    parts = [
        f"# {content.slug}",
        _GENERATED,
        f"{content.summary[0].upper()}{content.summary[1:]}.",
        f"## What it is\n\n{content.what}",
        f"## Why it is bad\n\n{content.why}",
        f"## Example\n\n```python\n{content.bad}\n```",
        f"## Use instead\n\n```python\n{content.good}\n```\n\n{content.use_instead}",
    ]
    elsewhere = {
        "TensorFlow": (content.bad_tensorflow, content.good_tensorflow),
        "JAX": (content.bad_jax, content.good_jax),
    }
    for framework, (wrong, right) in elsewhere.items():
        if wrong:
            parts.append(
                f"## In {framework}\n\n```python\n{wrong}\n```\n\nUse instead:\n\n```python\n{right}\n```"
            )
    if sample:
        parts.append(f"## What whygrad says\n\n{_LEAD}\n\n```text\n{sample.rstrip()}\n```")
    if content.avoid:
        parts.append(f"## Avoid\n\n{content.avoid}")
    if content.site:
        parts.append(f"## Where a finding points\n\n{content.site[0].upper()}{content.site[1:]}.")
    return "\n\n".join(parts) + "\n"


def index() -> str:
    """The list of all rules."""
    lines = ["# Rules", "", _GENERATED, "", "`whygrad explain SLUG` shows the same pages in the terminal."]
    for family, rules in by_family().items():
        lines += ["", f"## {family}: {FAMILIES[family]}", "", "| rule | what happened |", "|---|---|"]
        lines += [f"| [{r.slug}]({r.slug}.md) | {r.page.summary} |" for r in rules]
    return "\n".join(lines) + "\n"


def pages(samples: Path | None = None) -> dict[str, str]:
    """Every page by its file name."""
    said = {path.stem: path.read_text(encoding="utf-8") for path in samples.glob("*.txt")} if samples else {}
    written = {f"{slug}.md": page(rule.page, said.get(slug, "")) for slug, rule in RULES.items()}
    return {"index.md": index(), **written}


def stale(folder: Path) -> list[str]:
    """The files that differ from the rules, are missing, or belong to no rule."""
    wanted = pages(folder / "samples")
    found = {f.name: f.read_text(encoding="utf-8") for f in folder.glob("*.md")}
    return sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))


def write(folder: Path) -> None:
    """Make all pages current. One of no rule stays, and stays stale: names do not vanish."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages(folder / "samples").items():
        (folder / name).write_text(text, encoding="utf-8")


def main(argv: Sequence[str] | None = None) -> int:
    """Write the pages, if that is wanted; then say which ones are not those of the rules."""
    parser = argparse.ArgumentParser(
        prog="python -m whygrad.rules.pages", description="Write the rule pages."
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit code 1 if a page is not current"
    )
    options = parser.parse_args(argv)
    if not options.check:
        write(options.folder)
    old = stale(options.folder)
    known = pages()
    for name in old:
        wrong = "not current" if name in known else "of no rule any more, and a name that has a page stays"
        print(f"{wrong}: {options.folder / name}", file=sys.stderr)
    return 1 if old else 0


if __name__ == "__main__":
    sys.exit(main())
