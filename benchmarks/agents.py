"""Our agents side by side with their peers: environment steps per second, in one run, in turns.

    python benchmarks/agents.py [--rounds 3] [--only dqn]        speed, as ratios
    python benchmarks/agents.py --learning [--seeds 3]           what they learn, and how soon

Same hyperparameters, same environment, same number of steps, one thread each. The variants take turns, each in
a process of its own, so that what slows the machine slows all; medians over the rounds. CPU time is what is
compared, because it does not count the waiting on a busy machine; wall time is shown beside it.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent / "peers"
# agent: (steps, ours, peers with the ratio that is aimed at)
CONTESTS = {
    "dqn": (
        8_192,
        ["ours.py", "dqn"],
        {"Stable-Baselines3": (["dqn_sb3.py"], 1.5), "CleanRL style": (["dqn_loop.py"], 1.5)},
    ),
    "ppo": (
        10_240,
        ["ours.py", "ppo"],
        {"Stable-Baselines3": (["ppo_sb3.py"], 1.5), "CleanRL style": (["ppo_loop.py"], 1.5)},
    ),
    # One compiled function against a loop; of many trainings at once the steps are added up.
    "ppo_jax": (
        10_240,
        ["compiled.py", "--seeds", "1"],
        {"ppo, PyTorch": (["ours.py", "ppo"], 3.0)},
    ),
    "ppo_jax, 16 seeds": (
        10_240,
        ["compiled.py", "--seeds", "16"],
        {"ppo, PyTorch": (["ours.py", "ppo"], 5.0)},
    ),
    "dqn_keras": (4_096, ["warm.py", "dqn_keras"], {"TF-Agents": (["dqn_tf_agents.py"], 3.0)}),
    "ddpg": (3_000, ["warm.py", "ddpg"], {"TF-Agents": (["ddpg_tf_agents.py"], 3.0)}),
}
LEARNING = {
    "dqn": 50_000,
    "ppo": 100_000,
    "reinforce": 300_000,
    "ddpg": 10_000,
    "dqn_keras": 50_000,
    "dqn_tf_agents": 50_000,
}


def run(script, *args):
    """The last line of a process."""
    env = os.environ | {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [sys.executable, str(HERE / script), *map(str, args)]
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")
    return done.stdout.splitlines()[-1]


def speed(rounds, only):
    for agent, (steps, ours, peers) in CONTESTS.items():
        if only and agent.partition(",")[0] != only:
            continue
        variants = {"ours": ours} | {name: script for name, (script, _) in peers.items()}
        found = {name: [] for name in variants}
        for _ in range(rounds):
            for name, (script, *args) in variants.items():
                _, wall, cpu = run(script, *args, steps).split()
                found[name].append((float(wall), float(cpu)))
        print(f"\n{agent}, {steps:,} steps, {rounds} rounds: steps per second of CPU time (of wall time)")
        for name, rows in found.items():
            wall, cpu = (statistics.median(column) for column in zip(*rows, strict=True))
            line = f"  {name:18} {cpu:8,.0f} ({wall:,.0f})"
            if name != "ours":
                ratios = [o[1] / p[1] for o, p in zip(found["ours"], rows, strict=True)]
                line += f"   ours is {statistics.median(ratios):.2f}x ({min(ratios):.2f} to {max(ratios):.2f}); aim {peers[name][1]}x"
            print(line, flush=True)


def learning(seeds, only):
    for agent, steps in LEARNING.items():
        for seed in range(1, seeds + 1):
            if not only or agent == only:
                told = json.loads(run("ours.py", agent, steps, "--seed", seed, "--learn"))
                soon = told["reached"]
                when = (
                    f"threshold after {soon['steps']:,.0f} steps, {soon['cpu']} s of CPU"
                    if soon
                    else "threshold not reached in training"
                )
                print(
                    f"{agent:14} seed {seed}: mean of 100 episodes {told['mean']}, lowest {told['lowest']}; {when}",
                    flush=True,
                )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3, help="times that each variant runs")
    known = LEARNING.keys() | {agent.partition(",")[0] for agent in CONTESTS}
    parser.add_argument("--only", choices=sorted(known), help="one agent only")
    parser.add_argument("--learning", action="store_true", help="train and evaluate ours instead")
    parser.add_argument("--seeds", type=int, default=3, help="seeds of each agent")
    options = parser.parse_args()
    learning(options.seeds, options.only) if options.learning else speed(options.rounds, options.only)
