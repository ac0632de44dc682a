"""Recordings of labelled scripts: a script runs when something that records has changed, and is judged from disk else.

What records is a backend, the model, the runner, the framework, and the script itself. A rule is none of them: who works
on rules waits for no framework. The recordings are in ``.cache/recordings``, one for each script; without them, as on a
fresh clone, every script runs.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from whygrad.cli.run_directories import NotARun, judged
from whygrad.reporters import json_report
from whygrad.storage.directory import EVIDENCE, write_atomically

ROOT = Path(__file__).parents[1]
CACHE = ROOT / ".cache" / "recordings"
SOURCE = ROOT / "src" / "whygrad"
_RECORDS = ("frameworks", "model", "running", "storage", "summaries", "flow/source.py")
_PACKAGES = {
    "torch": ("torch", "numpy", "gymnasium"),
    "tensorflow": (
        "tensorflow-cpu",
        "tensorflow",
        "keras",
        "tf-keras",
        "tf-agents",
        "tensorflow-probability",
        "numpy",
    ),
    "jax": ("jax", "jaxlib", "flax", "optax", "equinox", "dm-haiku", "distrax", "numpy"),
}
_SHOWN = (
    "rule",
    "title",
    "site",
    "severity",
    "confidence",
    "subjects",
    "network",
    "chain",
    "why",
    "fix",
    "avoid",
)
Result = tuple[int, dict[str, Any], str]  # exit code, report, output


def find(framework: str, script: Path) -> Result | None:
    """What the script gave, judged anew; nothing if it has to run."""
    evidence, about = _files(script)
    try:
        kept = json.loads(about.read_text())
    except (OSError, ValueError):
        return None
    if kept["fingerprint"] != fingerprint(framework, script):
        return None
    try:
        return kept["code"], _judged(evidence), kept["output"]
    except NotARun:
        return None


def keep(framework: str, script: Path, result: Result, run: Path) -> list[str]:
    """Keep what was recorded in this run directory; what is judged differently from disk comes back."""
    code, report, output = result
    evidence, about = _files(script)
    about.unlink(missing_ok=True)
    if not report or not (run / EVIDENCE).is_file():
        return ["nothing was recorded"] if report.get("frameworks") else []
    evidence.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(evidence, (run / EVIDENCE).read_bytes())
    facts = {"fingerprint": fingerprint(framework, script), "code": code, "output": output}
    write_atomically(about, json.dumps(facts))
    return list(differences(report, _judged(evidence)))


def differences(live: dict[str, Any], again: dict[str, Any]) -> Iterable[str]:
    """Where a report that was made from disk is not the one that was made live."""
    ours, theirs = ([{key: f[key] for key in _SHOWN} for f in one["findings"]] for one in (live, again))
    if ours != theirs:
        yield f"judged from disk: {theirs}, live: {ours}"
    for part in ("gradient_map", "roles", "drawing", "notes", "updates", "exit_code", "sources"):
        if live[part] != again[part]:
            yield f"judged from disk, {part} is not as it was live"


def fingerprint(framework: str, script: Path) -> str:
    """What a recording depends on."""
    return hashlib.sha256((_of_us(framework) + script.read_text()).encode()).hexdigest()


@cache
def _of_us(framework: str) -> str:
    digest = hashlib.sha256()
    for part in _RECORDS:
        here = SOURCE / part
        files = [here] if here.is_file() else sorted(here.rglob("*"))
        for file in files:
            if file.suffix in (".py", ".c", ".h", ".so"):
                digest.update(str(file.relative_to(SOURCE)).encode() + file.read_bytes())
    versions = [f"{name} {_version(name)}" for name in _PACKAGES[framework]]
    return "\n".join([digest.hexdigest(), sys.version, *versions])


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _files(script: Path) -> tuple[Path, Path]:
    name = "__".join(script.resolve().relative_to(ROOT).parts)
    return CACHE / f"{name}.wg", CACHE / f"{name}.json"


def _judged(evidence: Path) -> dict[str, Any]:
    stored = judged(str(evidence))
    with stored.reading():
        return json.loads(json_report.render(stored.run))
