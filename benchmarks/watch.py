"""What summaries cost: ours beside what people use, as ratio to the bare update, in one run.

    python benchmarks/watch.py [--updates 600] [--rounds 3] [--widths 64,1024] [--only NAME,...] [--json FILE]
    python benchmarks/watch.py --turns [--rounds 3] [--widths 64,1024]    # ours alone, to a fraction of a percent
    python benchmarks/watch.py --sizes      # cost from 10 thousand to 100 million parameters

Every variant is a process of its own; they take turns of fifty updates on one core (see overhead.py), so that
whatever slows the machine slows all of them. The time of all threads counts, writing files included. The
first fifth of the turns is left out: in them ``whygrad run`` records, with summaries or without. With
``--turns`` the turns are of one process, see watch_turns.py: two processes differ by more than what is measured.
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

from overhead import Variant

HERE = Path(__file__).resolve().parent
LOOP, LOOP_AGENTS = str(HERE / "watch_loop.py"), str(HERE / "watch_loop_agents.py")
LOOP_TURNS = str(HERE / "watch_turns.py")
#: ours: options of ``whygrad run``
OURS = {
    "whygrad run": [],
    "every update": ["--every", "1", "--no-histograms"],
    "every update and histograms": ["--every", "1"],
    "every 100 and histograms": ["--watch"],
}
PEERS = {"SummaryWriter": "scalars", "SummaryWriter and histograms": "histograms", "wandb.watch": "wandb"}
SLOW = 5  # peers make so many times fewer updates
TURN = 50  # updates, as in watch_loop.py


class Turns(Variant):
    """A process with a command of its own that takes turns like the others."""

    def __init__(self, command: list[str]) -> None:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [sys.executable, *command],
            env=environment,
            stdin=pipe,
            stdout=pipe,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.seconds: list[float] = []
        self.losses: list[float] = []
        self.whole = self.peak = 0.0


def plan(updates: int, width: int, folder: str, only: list[str]) -> dict[str, list[str]]:
    """The commands of all variants."""
    ours = ["-m", "whygrad", "run", "--quiet", "--out"]
    commands = {"bare": [LOOP, str(updates), str(width)]}
    for number, (name, options) in enumerate(OURS.items()):
        commands[name] = [*ours, f"{folder}/{number}", *options, LOOP, str(updates), str(width)]
    for name, peer in PEERS.items():
        commands[name] = [LOOP, str(max(20, updates // SLOW)), str(width), peer, f"{folder}/{peer}"]
    return {name: c for name, c in commands.items() if not only or name == "bare" or name in only}


def turns(width: int, rounds: int, only: list[str]) -> dict[str, object]:
    """What of ours costs how much, in processes that take our hooks out and put them back."""
    found: dict[str, object] = {}
    print(f"\nDQN 2x{width}, in one process: ratio to the bare update, {rounds} rounds (least to most)")
    for name, options in OURS.items():
        if only and name not in only:
            continue
        every = 100 if "--watch" in options else int("--every" in options)
        count = max(50, 600 * 64 // width)
        with tempfile.TemporaryDirectory() as folder:
            command = ["-m", "whygrad", "run", "--quiet", "--out", folder, *options, LOOP_TURNS]
            each = [_one_process([*command, str(count), str(width), str(every)]) for _ in range(rounds)]
        found[name] = each
        ratios = [one["ratio"] + one["threads"] for one in each]
        controls = [one["control"] for one in each]
        print(
            f"  {name:34s}{statistics.median(ratios):8.4f}   ({min(ratios):.4f} to {max(ratios):.4f}; without the other "
            f"threads {statistics.median(one['ratio'] for one in each):.4f}; bare to bare {min(controls):.4f} to "
            f"{max(controls):.4f})",
            flush=True,
        )
    return found


def _one_process(command: list[str]) -> dict[str, float]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, *command], env=environment, check=True, capture_output=True, text=True
    )
    return dict(json.loads(done.stdout))


def agents(updates: int, folder: str) -> dict[str, list[str]]:
    """TF-Agents' own summaries beside ours."""
    os.environ["TF_USE_LEGACY_KERAS"] = "1"
    ours = ["-m", "whygrad", "run", "--quiet", "--out"]
    commands = {"bare": [LOOP_AGENTS, str(updates)]}
    for number, (name, options) in enumerate(OURS.items()):
        commands[name] = [*ours, f"{folder}/{number}", *options, LOOP_AGENTS, str(updates)]
    commands["summarize_grads_and_vars"] = [LOOP_AGENTS, str(updates), f"{folder}/agents"]
    return commands


def one_round(commands: dict[str, list[str]]) -> dict[str, Turns]:
    """All variants once, in turns."""
    variants = {name: Turns(command) for name, command in commands.items()}
    running = dict(variants)
    while running:
        running = {name: variant for name, variant in running.items() if going(name, variant)}
    return {name: variant for name, variant in variants.items() if variant.seconds}


def going(name: str, variant: Turns) -> bool:
    """A turn; a variant that cannot run here (wandb is not installed) drops out."""
    try:
        return variant.turn()
    except (AssertionError, BrokenPipeError):
        print(f"{name} does not run here")
        return False


def compare(name: str, bare: str, rounds: list[dict[str, Turns]]) -> dict[str, float]:
    """Ratios to bare, turn by turn, over the turns that both made."""
    ratios = []
    for variants in rounds:
        first, other = variants[bare], variants[name]
        count = min(len(other.seconds), len(first.seconds))
        assert other.losses[:count] == first.losses[:count], f"{name} has changed the training"
        ratios.append(_ratio(other, first, slice(min(max(1, count // 5), count - 1), count)))
    return {"ratio": statistics.median(ratios), "least": min(ratios), "most": max(ratios)}


def _ratio(other: Turns, bare: Turns, later: slice) -> float:
    pairs = zip(other.seconds[later], bare.seconds[later], strict=True)
    return statistics.median(a / b for a, b in pairs)


def measure(title: str, bare: str, commands: dict[str, list[str]], rounds: int) -> dict[str, object]:
    done = [one_round(commands) for _ in range(rounds)]
    update = statistics.median(s for r in done for s in r[bare].seconds[2:]) / TURN
    print(f"\n{title}: bare update {1e6 * update:.0f} us; ratios to it, {rounds} rounds (least to most)")
    table = {name: compare(name, bare, done) for name in done[0] if name != bare}
    for name, row in table.items():
        print(f"  {name:34s}{row['ratio']:8.3f}   ({row['least']:.3f} to {row['most']:.3f})", flush=True)
    return {"bare": update, "ratios": table}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--updates", type=int, default=600)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--widths", default="64,1024")
    parser.add_argument("--only", default="", help="names of variants, with commas between them")
    parser.add_argument("--agents", action="store_true", help="TF-Agents, too")
    parser.add_argument("--turns", action="store_true", help="ours, in turns of one process")
    parser.add_argument("--sizes", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # inherited; the first core has interrupts
    if options.sizes:
        import watch_sizes

        watch_sizes.main()
        return
    only = [name.strip() for name in options.only.split(",") if name.strip()]
    found: dict[str, object] = {}
    for width in map(int, options.widths.split(",")):
        title = f"DQN 2x{width}"
        if options.turns:
            found[title] = turns(width, options.rounds, only)
            continue
        with tempfile.TemporaryDirectory() as folder:
            commands = plan(options.updates, width, folder, only)
            found[title] = measure(title, "bare", commands, options.rounds)
    if options.agents:
        with tempfile.TemporaryDirectory() as folder:
            title, commands = "TF-Agents DqnAgent 2x64, compiled", agents(options.updates, folder)
            found[title] = measure(title, "bare", commands, options.rounds)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
