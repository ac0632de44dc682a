"""How often whygrad names the right cause on the right line, and how often it cries wolf.

``python benchmarks/accuracy.py DIR`` runs whygrad over every script that ``DIR/labels.json`` lists and
compares what it says with the label. A label has: file (below DIR), framework, healthy, rule, rule_alt (also
right), line (the culprit; any of them), line_alt (also acceptable), exit_code of plain python, and sometimes
site_file, when ``line`` is a line of another file than the script.

    recall           faulty scripts with a finding (error or warning) of the right rule
    line accuracy    faulty scripts where that finding is on the culprit line, or on an acceptable one
    false alarms     healthy scripts with any error or warning
    exit codes       runs that ended otherwise than plain python would have
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

MISSING = frozenset(
    {
        "backward-twice",
        "detached",
        "fake-root",
        "frozen",
        "in-place-modified",
        "loss-independent",
        "no-grad-block",
        "no-step",
        "nondifferentiable-op",
        "not-in-optimizer",
        "not-tracked",
        "numpy-round-trip",
        "outside-tape",
        "stale-closure",
        "stale-optimizer",
        "wrong-variables",
    }
)
FAMILIES = {"missing": MISSING, "all": None}
LOUD = ("error", "warning")

Place = tuple[str, int]


@dataclass(frozen=True)
class Label:
    """What a person says about a script."""

    file: str
    healthy: bool
    rules: tuple[str, ...]
    culprit: frozenset[Place]
    acceptable: frozenset[Place]
    exit_code: int
    framework: str


@dataclass(frozen=True)
class Said:
    """One finding of whygrad."""

    rule: str
    severity: str
    place: Place | None


@dataclass(frozen=True)
class Outcome:
    """One run of whygrad: ``findings`` is None when there was no report.

    ``failed_inside``: the report has a note that whygrad itself failed and stepped aside.
    """

    exit_code: int | None
    findings: tuple[Said, ...] | None
    seconds: float
    failed_inside: bool = False


@dataclass(frozen=True)
class Verdict:
    """A label and an outcome, compared."""

    file: str
    healthy: bool
    expected: str
    said: tuple[str, ...]
    right_rule: bool
    right_line: bool
    near_line: bool
    false_alarm: bool
    others: tuple[str, ...]
    exit_code: int | None
    exit_expected: int
    reported: bool
    failed_inside: bool
    seconds: float


def read_labels(folder: Path) -> list[Label]:
    """The labels of a folder, with absolute places."""
    return [_label(folder, entry) for entry in json.loads((folder / "labels.json").read_text())]


def _label(folder: Path, entry: dict[str, Any]) -> Label:
    script = str((folder / entry["file"]).resolve())
    site_file = str((folder / entry.get("site_file", entry["file"])).resolve())
    culprit = frozenset((site_file, line) for line in entry["line"])
    return Label(
        file=entry["file"],
        healthy=entry["healthy"],
        rules=() if entry["healthy"] else (entry["rule"], *entry["rule_alt"]),
        culprit=culprit,
        acceptable=culprit | {(script, line) for line in entry["line_alt"]},
        exit_code=entry["exit_code"],
        framework=entry["framework"],
    )


def choose(labels: Iterable[Label], framework: str | None, family: str) -> tuple[list[Label], Counter[str]]:
    """The labels to run, and the rules of those that are left out because they are of another family."""
    mine = [label for label in labels if framework in (None, label.framework)]
    rules = FAMILIES[family]
    skipped = [label for label in mine if rules and not label.healthy and label.rules[0] not in rules]
    return [label for label in mine if label not in skipped], Counter(label.rules[0] for label in skipped)


def run(script: Path, timeout: float) -> Outcome:
    """Run whygrad over one script, in a directory of its own."""
    with tempfile.TemporaryDirectory(prefix="whygrad-accuracy-") as scratch:
        report = Path(scratch, "report.json")
        out = Path(scratch, "run")
        command: list[str | Path] = [
            sys.executable,
            "-m",
            "whygrad",
            "run",
            "--quiet",
            "--json",
            report,
            "--out",
            out,
            script,
        ]
        environment = {"OMP_NUM_THREADS": "1", **os.environ}
        start = time.perf_counter()
        try:
            done = subprocess.run(
                command,
                cwd=scratch,
                env=environment,
                timeout=timeout,
                capture_output=True,
                text=True,
                errors="replace",
            )
        except subprocess.TimeoutExpired:
            return Outcome(None, None, timeout)
        seconds = time.perf_counter() - start
        try:
            document = json.loads(report.read_text())
        except (OSError, ValueError):
            return Outcome(done.returncode, None, seconds)
        places = [_place(entry.get("site"), Path(scratch)) for entry in document["findings"]]
    said = [
        Said(e["rule"], e["severity"], place) for e, place in zip(document["findings"], places, strict=True)
    ]
    failed = any(note["kind"] == "internal" for note in document.get("notes", ()))
    return Outcome(done.returncode, tuple(said), seconds, failed)


def _place(site: dict[str, Any] | None, cwd: Path) -> Place | None:
    if not site or not site.get("file"):
        return None
    return str((cwd / site["file"]).resolve()), site["line"]


def judge(label: Label, outcome: Outcome) -> Verdict:
    """Compare what whygrad said with what is true."""
    loud = [said for said in outcome.findings or () if said.severity in LOUD]
    right = [said for said in loud if said.rule in label.rules]
    return Verdict(
        file=label.file,
        healthy=label.healthy,
        expected="" if label.healthy else f"{label.rules[0]}:{_lines(label.culprit)}",
        said=tuple(f"{said.rule}:{said.place[1] if said.place else '?'}" for said in loud),
        right_rule=bool(right),
        right_line=any(said.place in label.culprit for said in right),
        near_line=any(said.place in label.acceptable for said in right),
        false_alarm=label.healthy and bool(loud),
        others=tuple(said.rule for said in loud if said.rule not in label.rules),
        exit_code=outcome.exit_code,
        exit_expected=label.exit_code,
        reported=outcome.findings is not None,
        failed_inside=outcome.failed_inside,
        seconds=round(outcome.seconds, 1),
    )


def _lines(places: frozenset[Place]) -> str:
    return "/".join(str(line) for _, line in sorted(places))


def totals(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """The few numbers that matter."""
    faulty = [v for v in verdicts if not v.healthy]
    healthy = [v for v in verdicts if v.healthy]
    return {
        "scripts": len(verdicts),
        "faulty": len(faulty),
        "recall": _share(v.right_rule for v in faulty),
        "line_accuracy_strict": _share(v.right_line for v in faulty),
        "line_accuracy": _share(v.near_line for v in faulty),
        "other_findings": _share(bool(v.others) for v in faulty),
        "healthy": len(healthy),
        "false_alarms": _share(v.false_alarm for v in healthy),
        "exit_code_differs": _share(v.exit_code != v.exit_expected for v in verdicts),
        "no_report": _share(not v.reported for v in verdicts),
        "failed_inside": _share(v.failed_inside for v in verdicts),
    }


def _share(flags: Iterable[bool]) -> dict[str, int]:
    seen = list(flags)
    return {"count": sum(seen), "of": len(seen)}


def row(verdict: Verdict, width: int) -> str:
    """One script on one line."""
    words = f"{verdict.expected or 'healthy':<28} {', '.join(verdict.said) or '-'}"
    notes = ""
    if verdict.exit_code != verdict.exit_expected:
        notes += f"  [exit {verdict.exit_code}, not {verdict.exit_expected}]"
    if verdict.failed_inside:
        notes += "  [whygrad failed and stepped aside]"
    return f"{_mark(verdict):<10} {verdict.file:<{width}} {words}{notes}"


def _mark(verdict: Verdict) -> str:
    if not verdict.reported:
        return "NO REPORT"
    if verdict.healthy:
        return "ALARM" if verdict.false_alarm else "silent"
    if not verdict.right_rule:
        return "MISSED"
    return "right" if verdict.right_line else "near" if verdict.near_line else "WRONG LINE"


def summary(numbers: dict[str, Any]) -> str:
    """The totals as text."""
    names = {
        "recall": "recall (right rule)",
        "line_accuracy_strict": "on the culprit line",
        "line_accuracy": "on an acceptable line",
        "other_findings": "faulty with other findings too",
        "false_alarms": "false alarms (healthy)",
        "exit_code_differs": "exit code differs from python",
        "no_report": "no report",
        "failed_inside": "whygrad failed and stepped aside",
    }
    return "\n".join(f"{text:<32} {_ratio(numbers[key])}" for key, text in names.items())


def _ratio(share: dict[str, int]) -> str:
    percent = f"  {100 * share['count'] / share['of']:.0f} %" if share["of"] else ""
    return f"{share['count']:>3} of {share['of']}{percent}"


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="a folder with a labels.json")
    parser.add_argument("--framework", help="only scripts of this framework (torch, tensorflow, jax)")
    parser.add_argument("--rules", choices=sorted(FAMILIES), default="all", help="which faults count")
    parser.add_argument("--only", metavar="TEXT", help="only scripts whose path contains TEXT")
    parser.add_argument("--jobs", type=int, default=2, help="scripts at the same time (default 2)")
    parser.add_argument("--timeout", type=float, default=180.0, help="seconds per script (default 180)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write totals and rows to FILE too")
    arguments = parser.parse_args(argv)
    if not (arguments.folder / "labels.json").is_file():
        parser.error(f"there is no labels.json in {arguments.folder}")
    return arguments


def main(argv: Sequence[str] | None = None) -> int:
    """Run, judge, show."""
    arguments = parse_arguments(argv)
    labels, skipped = choose(read_labels(arguments.folder), arguments.framework, arguments.rules)
    labels = [label for label in labels if (arguments.only or "") in label.file]
    width = max((len(label.file) for label in labels), default=0)

    def look(label: Label) -> Verdict:
        verdict = judge(label, run((arguments.folder / label.file).resolve(), arguments.timeout))
        print(row(verdict, width), flush=True)
        return verdict

    with ThreadPoolExecutor(max_workers=arguments.jobs) as pool:
        verdicts = list(pool.map(look, labels))
    numbers = totals(verdicts)
    print(f"\n{summary(numbers)}")
    if skipped:
        kinds = ", ".join(f"{rule} {count}" for rule, count in sorted(skipped.items()))
        print(f"skipped, of another family: {skipped.total()} ({kinds})")
    if arguments.json:
        document = {"totals": numbers, "skipped": dict(skipped), "scripts": [asdict(v) for v in verdicts]}
        arguments.json.write_text(json.dumps(document, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
