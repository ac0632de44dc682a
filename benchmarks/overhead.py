"""What watching costs: a DQN training loop under ``whygrad run``, beside bare python and anomaly mode.

    python benchmarks/overhead.py [--updates 5000] [--rounds 5] [--json FILE]

Each round runs every variant once, one after the other, in a fresh process; a ratio compares two runs of
the same round. ``recording`` is a loop in which every update is recorded, which a real run never does.
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
    "import sys; from whygrad.backends.torch import schedule; schedule.FIRST = 10**9;"
    "from whygrad.cli.main import main; sys.exit(main())"
)


def measure(variant: str, updates: int, folder: Path) -> dict[str, float]:
    """One run of one variant in a process of its own."""
    result = folder / "result.json"
    program = [LOOP, str(updates), str(result)]
    watched = ["run", "--quiet", "--out", str(folder / "run"), *program]
    command = {
        "bare": [sys.executable, *program],
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
    rows: dict[str, list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for round_number in range(options.rounds):
            bare = measure("bare", options.updates, folder)
            bare_few = measure("bare", few, folder)
            for variant, updates, base in (
                ("whygrad run", options.updates, bare),
                ("anomaly mode", options.updates, bare),
                ("recording", few, bare_few),
            ):
                got = measure(variant, updates, folder)
                assert got["loss"] == base["loss"], f"{variant} changed the training"
                ratio = got["seconds"] / base["seconds"], got["peak_kib"] / base["peak_kib"]
                rows.setdefault(variant, []).append(ratio)
            per_update = 1e6 * bare["seconds"] / options.updates
            print(f"round {round_number + 1}: bare {per_update:.0f} us per update", flush=True)
    print(f"\n{'':14s}{'time, ratio to bare':>28s}{'peak memory':>16s}")
    summary = {}
    for variant, ratios in rows.items():
        times, memory = zip(*ratios, strict=True)
        summary[variant] = {"time": statistics.median(times), "memory": statistics.median(memory)}
        spread = f"({min(times):.3f} to {max(times):.3f})"
        print(
            f"{variant:14s}{statistics.median(times):>10.3f} {spread:>17s}{statistics.median(memory):>16.3f}"
        )
    if options.json:
        options.json.write_text(json.dumps(summary, indent=1))


if __name__ == "__main__":
    main()
