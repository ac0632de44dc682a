"""What watching costs: a DQN training loop under ``whygrad run``, beside bare python and anomaly mode.

    python benchmarks/overhead.py [--updates 5000] [--rounds 5] [--json FILE]

Each round runs every variant once, one after the other, in a fresh process. ``recording`` is a loop in which
every update is recorded, which a real run never does.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
LOOP = str(HERE / "dqn_loop.py")
RECORD_ALL = (
    "import sys; from whygrad.backends.torch import schedule; schedule.FIRST = schedule.FIRST_WINDOW = 10**9;"
    "from whygrad.cli.main import main; sys.exit(main())"
)


def measure(variant: str, updates: int, folder: Path) -> dict[str, float]:
    """One run of one variant in a process of its own."""
    result = folder / "result.json"
    program = [LOOP, str(updates), str(result)]
    watched = ["run", "--quiet", "--out", str(folder / "run"), *program]
    command = {
        "bare": [sys.executable, *program],
        "bare, few": [sys.executable, *program],
        "whygrad run": [sys.executable, "-m", "whygrad", *watched],
        "recording": [sys.executable, "-c", RECORD_ALL, *watched],
        "anomaly mode": [sys.executable, *program, "--anomaly"],
    }[variant]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run(command, check=True, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    return json.loads(result.read_text())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--updates", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    few = min(options.updates, 500)
    plan = (
        ("bare", options.updates),
        ("whygrad run", options.updates),
        ("anomaly mode", options.updates),
        ("bare, few", few),
        ("recording", few),
    )
    rows: dict[str, list[dict[str, float]]] = {variant: [] for variant, _ in plan}
    with tempfile.TemporaryDirectory() as name:
        for round_number in range(options.rounds):
            for variant, updates in plan:
                rows[variant].append(measure(variant, updates, Path(name)))
            per_update = 1e6 * rows["bare"][-1]["seconds"] / options.updates
            print(f"round {round_number + 1}: bare {per_update:.0f} us per update", flush=True)
    summary = {
        "whygrad run": compare(rows["whygrad run"], rows["bare"]),
        "anomaly mode": compare(rows["anomaly mode"], rows["bare"]),
        "recording": compare(rows["recording"], rows["bare, few"]),
    }
    show(summary)
    if options.json:
        options.json.write_text(json.dumps(summary, indent=1))


def compare(runs: list[dict[str, float]], bare: list[dict[str, float]]) -> dict[str, float]:
    """Ratios to bare: of the fastest runs, which noise can only slow down, and round by round."""
    assert all(run["loss"] == base["loss"] for run, base in zip(runs, bare, strict=True)), "training changed"
    rounds = [run["seconds"] / base["seconds"] for run, base in zip(runs, bare, strict=True)]
    return {
        "best": min(r["seconds"] for r in runs) / min(b["seconds"] for b in bare),
        "median": statistics.median(rounds),
        "least": min(rounds),
        "most": max(rounds),
        "memory": max(r["peak_kib"] for r in runs) / max(b["peak_kib"] for b in bare),
    }


def show(summary: dict[str, dict[str, float]]) -> None:
    """The table."""
    print("\ntime and peak memory as ratios to bare python")
    print(f"{'':14s}{'fastest':>9s}{'median round':>14s}{'(spread)':>18s}{'memory':>9s}")
    for variant, row in summary.items():
        spread = f"({row['least']:.2f} to {row['most']:.2f})"
        print(f"{variant:14s}{row['best']:9.3f}{row['median']:14.3f}{spread:>18s}{row['memory']:9.3f}")


if __name__ == "__main__":
    main()
