"""What watching costs: a DQN training loop under ``whygrad run``, beside bare python and anomaly mode.

    python benchmarks/overhead.py [--updates 5000] [--rounds 5] [--framework torch|tensorflow] [--json FILE]

In each round every variant is a process of its own; they take turns of a few updates on one core, so that
whatever slows the machine slows all of them. ``recording`` is a loop in which every update is recorded, which
a real run never does: 500 updates of it. ``steady`` leaves out the turns in which updates are recorded.
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
LOOP, LOOP_TF = str(HERE / "dqn_loop.py"), str(HERE / "dqn_loop_tf.py")
RECORD_ALL = (
    "import sys; from dataclasses import replace; from whygrad.frameworks.shared import attention;"
    "attention.BUDGET = replace(attention.BUDGET, first=10**9, window=10**9);"
    "from whygrad.cli.main import main; sys.exit(main())"
)
FEW = 500


class Variant:
    """One process that trains when it is told to."""

    def __init__(self, name: str, updates: int, folder: str) -> None:
        program = [LOOP, str(updates)]
        if name.startswith("eager"):
            program = [LOOP_TF, str(updates // 20), "5"]
        elif name.startswith("compiled"):
            program = [LOOP_TF, str(updates), "50", "--compiled"]
        watched = ["run", "--quiet", "--out", f"{folder}/{name}", *program]
        command = program
        if name.endswith("whygrad run"):
            command = ["-m", "whygrad", *watched]
        elif name == "recording":
            command = ["-c", RECORD_ALL, *watched]
        elif name == "anomaly mode":
            command = [*program, "--anomaly"]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
        self.process = subprocess.Popen(
            [sys.executable, *command],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.seconds: list[float] = []
        self.losses: list[float] = []
        self.whole = self.peak = 0.0

    def turn(self) -> bool:
        """Train for a turn; false when the training is over."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline().split()
        if not line:
            _, status, used = os.wait4(self.process.pid, 0)
            assert status == 0, "the training failed"
            self.whole, self.peak = used.ru_utime + used.ru_stime, float(used.ru_maxrss)
            return False
        self.seconds.append(float(line[0]))
        self.losses.append(float(line[1]))
        return True


def one_round(framework: str, updates: int) -> dict[str, Variant]:
    """All variants once, in turns."""
    with tempfile.TemporaryDirectory() as folder:
        if framework == "torch":
            plan = dict.fromkeys(("bare", "whygrad run", "anomaly mode"), updates)
            plan["recording"] = min(FEW, updates)
        else:
            names = ("eager bare", "eager whygrad run", "compiled bare", "compiled whygrad run")
            plan = dict.fromkeys(names, updates)
        variants = {name: Variant(name, count, folder) for name, count in plan.items()}
        running = list(variants.values())
        while running:
            running = [variant for variant in running if variant.turn()]
    return variants


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--updates", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--framework", choices=("torch", "tensorflow"), default="torch")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # the variants inherit it
    rounds = []
    for number in range(options.rounds):
        rounds.append(one_round(options.framework, options.updates))
        bare = {name: sum(v.seconds) for name, v in rounds[-1].items() if name.endswith("bare")}
        print(f"round {number + 1}:", *(f"{name} {total:.2f} s" for name, total in bare.items()), flush=True)
    summary = {name: compare(name, rounds) for name in rounds[0] if not name.endswith("bare")}
    show(summary)
    if options.json:
        options.json.write_text(json.dumps(summary, indent=1))


def compare(name: str, rounds: list[dict[str, Variant]]) -> dict[str, float]:
    """Ratios to bare, over the turns that both trained."""
    loops, turns, whole, memory = [], [], [], []
    for variants in rounds:
        kind = name.partition(" ")[0] + " " if name.startswith(("eager", "compiled")) else ""
        bare, other = variants[f"{kind}bare"], variants[name]
        count = len(other.seconds)
        assert other.losses == bare.losses[:count], "training changed"
        loops.append(sum(other.seconds) / sum(bare.seconds[:count]))
        later = slice(count // 4, None)  # the first updates are recorded
        turns.append(sum(other.seconds[later]) / sum(bare.seconds[:count][later]))
        whole.append(other.whole / bare.whole)
        memory.append(other.peak / bare.peak)
    return {
        "loop": statistics.median(loops),
        "least": min(loops),
        "most": max(loops),
        "steady": statistics.median(turns),
        "process": statistics.median(whole),
        "memory": max(memory),
    }


def show(summary: dict[str, dict[str, float]]) -> None:
    """The table."""
    print("\nratios to bare python: median of the rounds")
    print(f"{'':22s}{'training loop':>14s}{'(spread)':>18s}{'steady':>9s}{'process':>9s}{'memory':>9s}")
    for name, row in summary.items():
        spread = f"({row['least']:.3f} to {row['most']:.3f})"
        process = f"{row['process']:9.3f}" if name != "recording" else f"{'':9s}"  # it trained for less
        print(f"{name:22s}{row['loop']:14.3f}{spread:>18s}{row['steady']:9.3f}{process}{row['memory']:9.3f}")


if __name__ == "__main__":
    main()
