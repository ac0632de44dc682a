"""Fills in what the commands of docs/tutorials print.

python scripts/tutorials.py            write it; tests/docs/test_tutorials.py compares

A page is its own source. A fence ```` ```python title="train.py" ```` is a file, ```` ```console ```` a
command with its output, and comments say what the rest is for. Before a fence:

    fix: train.py           mends the file: a whole function, or what goes where `# here` is
    wrong: train.py: RULE   does not mend it, and has this finding

Before a table, whose rows are other lines for `# here` with the rule that names them:

    instead: train.py       in the mended file
    wrong: train.py         in the broken one
"""

from __future__ import annotations

import re
import sys
import tempfile
import textwrap
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.docs import running  # noqa: E402

TUTORIALS = ROOT / "docs" / "tutorials"
FENCE = re.compile(
    r"^(?:<!-- (?P<note>[^\n]*?) -->\n)?```(?P<info>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL
)
_TABLE = re.compile(r"^<!-- (?P<kind>instead|wrong): (?P<file>\S+) -->\n+(?P<rows>(?:\|[^\n]*\n)+)", re.M)
_ROW = re.compile(r"^\| `(?P<code>.+?)` \|.*?\[[\w-]+\]\(\.\./rules/(?P<rule>[\w-]+)\.md\)", re.M)


@dataclass(frozen=True)
class Variant:
    """Another line for a script, and the rule that whygrad must name for it."""

    kind: str  # instead: of the mended script; wrong: of the broken one
    script: str
    code: str
    rule: str


def files(page: str) -> dict[str, str]:
    """The scripts of the page, by name."""
    titled = ((re.search(r'title="([^"]+)"', f["info"]), f["body"]) for f in FENCE.finditer(page))
    return {title[1]: body for title, body in titled if title}


def commands(page: str) -> list[str]:
    """The commands whose output the page shows."""
    shown = (f["body"] for f in FENCE.finditer(page) if f["info"] == "console")
    return [body.splitlines()[0].removeprefix("$ ") for body in shown]


def fixed(page: str) -> dict[str, str]:
    """The scripts of the page that it mends, mended."""
    scripts, mended = files(page), {}
    for fence in FENCE.finditer(page):
        if (fence["note"] or "").startswith("fix: "):
            name = fence["note"].removeprefix("fix: ")
            mended[name] = _mended(mended.get(name, scripts[name]), fence["body"])
    return mended


def variants(page: str) -> list[Variant]:
    """The other causes and the wrong cures that the page speaks of, each as a script."""
    found, scripts, mended = [], files(page), fixed(page)
    for table in _TABLE.finditer(page):
        base = (mended if table["kind"] == "instead" else scripts)[table["file"]]
        rows = _ROW.finditer(table["rows"])
        found += [Variant(table["kind"], _here(base, row["code"]), row["code"], row["rule"]) for row in rows]
    for fence in FENCE.finditer(page):
        wrong = re.fullmatch(r"wrong: (\S+): ([\w-]+)", fence["note"] or "")
        if wrong:
            script = _mended(scripts[wrong[1]], fence["body"])
            found.append(Variant("wrong", script, f"{wrong[2]} in {wrong[1]}", wrong[2]))
    return found


def _mended(script: str, body: str) -> str:
    """The script with a function of the same name, or the line ``# here``, replaced."""
    function = re.match(r"def (\w+)\(", body)
    if not function:
        return _here(script, body.rstrip("\n"))
    old = re.compile(rf"^def {function[1]}\(.*?(?=^\S)", re.M | re.S)
    assert len(old.findall(script)) == 1, function[1]
    return old.sub(lambda _: body.rstrip("\n") + "\n\n\n", script)


def _here(script: str, code: str) -> str:
    new, count = re.subn(
        r"^( *)[^\n]*# here$", lambda line: textwrap.indent(code, line[1]), script, flags=re.MULTILINE
    )
    assert count == 1, f"{count} lines are marked `# here`"
    return new


def framework(text: str) -> str:
    """What a script needs."""
    return "tensorflow" if "import tensorflow" in text else "torch"


def said(output: str) -> str:
    """The report, without what differs from machine to machine and from run to run."""
    start = output.find("whygrad: ")
    text = re.sub(r"^whygrad: the report is in .*\n", "", output[start:], flags=re.MULTILINE)
    text = re.sub(r"^who trains whom .*?\n\n", "", text, flags=re.MULTILINE | re.DOTALL)  # not in every check
    return re.sub(r"((?:PyTorch|TensorFlow) \d+\.\d+)[\w.+]*", r"\1", text).strip()


def filled(page: str, outputs: dict[str, str]) -> str:
    """The page with what its commands print."""

    def fill(fence: re.Match[str]) -> str:
        command = fence["body"].splitlines()[0].removeprefix("$ ")
        return f"```console\n$ {command}\n{outputs[command]}\n```" if fence["info"] == "console" else fence[0]

    return FENCE.sub(fill, page)


def jobs(page: str, folder: Path) -> list[running.Job]:
    """The commands of the page, in a folder with its scripts."""
    scripts = files(page)
    for name, text in scripts.items():
        (folder / name).write_text(text, encoding="utf-8")
    used = {command: next((t for n, t in scripts.items() if n in command), "") for command in commands(page)}
    return [running.Job(folder, command, framework(text)) for command, text in used.items()]


def main() -> int:
    """Run everything and write the pages."""
    pages = {path: path.read_text(encoding="utf-8") for path in sorted(TUTORIALS.glob("*.md"))}
    with tempfile.TemporaryDirectory() as scratch:
        todo = []
        for path, text in pages.items():
            (folder := Path(scratch) / path.stem).mkdir()
            todo += [(path, job) for job in jobs(text, folder)]
        done = running.run_all([job for _, job in todo])
    for path, text in pages.items():
        mine = {job.command: said(d.stderr) for (of, job), d in zip(todo, done, strict=True) if of == path}
        path.write_text(filled(text, mine), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
