"""How long an update of the snake agent takes, beside the same in plain Keras, torch and TensorFlow.js.

    python benchmarks/snake.py [--rounds 5] [--updates 3] [--tfjs FOLDER] [--json FILE]

The original's network (1.1 million weights), batch 64, one thread. Every contender is a process of its own;
in each round they take turns, so that whatever slows the machine slows all of them. CPU time is what is
compared: on a busy machine the wall clock says how busy it was. FOLDER is where npm installed
@tensorflow/tfjs or @tensorflow/tfjs-node; TensorFlow.js without its native part is so slow that it gets
batches of 1, and so does the agent beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "src" / "whygrad" / "zoo" / "agents"))
ONE_THREAD = {"OMP_NUM_THREADS": "1", "TF_NUM_INTRAOP_THREADS": "1", "TF_NUM_INTEROP_THREADS": "1",
              "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}  # fmt: skip


def batch_of(n: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(0)
    states, nexts = (rng.integers(0, 3, (n, 9, 9, 2)).astype(np.uint8) for _ in range(2))
    actions = rng.integers(0, 3, n).astype(np.int32)
    return states, actions, rng.normal(size=n).astype(np.float32), np.zeros(n, np.float32), nexts


def agent(n: int, *options: str) -> Callable[[], None]:
    """The agent as it is, or with Keras' own optimizer and compilation as people write it."""
    import snake_dqn

    made = snake_dqn.Agent(snake_dqn.parse(["--seed", "1", *options]), np.random.default_rng(0))
    batch = batch_of(n)
    return lambda: float(made.update(*batch))


def keras(n: int, xla: bool) -> Callable[[], None]:
    import keras
    import snake_dqn
    import tensorflow as tf

    online, target = snake_dqn.build_network(9, 9), snake_dqn.build_network(9, 9)
    optimizer, batch = keras.optimizers.Adam(1e-3), batch_of(n)
    optimizer.build(online.trainable_variables)

    @tf.function(jit_compile=xla)
    def update(states, actions, rewards, dones, nexts):
        best = tf.reduce_max(target(tf.cast(nexts, tf.float32), training=False), axis=-1)
        goal = rewards + 0.99 * (1 - dones) * best
        with tf.GradientTape() as tape:
            q = tf.gather(online(tf.cast(states, tf.float32), training=True), actions, batch_dims=1)
            loss = tf.reduce_mean(tf.square(goal - q))
        optimizer.apply(tape.gradient(loss, online.trainable_variables), online.trainable_variables)
        return loss

    return lambda: float(update(*batch))


def torch(n: int) -> Callable[[], None]:
    import torch
    from torch import nn

    torch.set_num_threads(1)

    def build():
        first = [nn.Conv2d(2, 128, 3), nn.ReLU(), nn.BatchNorm2d(128, 1e-3, 0.01)]
        second = [nn.Conv2d(128, 256, 3), nn.ReLU(), nn.BatchNorm2d(256, 1e-3, 0.01)]
        third = [nn.Conv2d(256, 256, 3), nn.ReLU()]
        head = [nn.Flatten(), nn.Linear(2304, 100), nn.ReLU(), nn.Dropout(0.25), nn.Linear(100, 3)]
        return nn.Sequential(*first, *second, *third, *head).to(memory_format=torch.channels_last)

    online, target = build(), build().eval()
    optimizer = torch.optim.Adam(online.parameters(), 1e-3, eps=1e-7)
    states, actions, rewards, dones, nexts = map(torch.from_numpy, batch_of(n))

    def update() -> float:
        s, t = (x.float().permute(0, 3, 1, 2) for x in (states, nexts))
        with torch.no_grad():
            goal = rewards + 0.99 * (1 - dones) * target(t).amax(1)
        q = online(s).gather(1, actions.long()[:, None]).squeeze(1)
        loss = ((goal - q) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    return update


PYTHON = {
    "whygrad's agent": lambda: agent(64),
    "Keras, tf.function": lambda: keras(64, False),
    "Keras, XLA": lambda: keras(64, True),
    "torch, channels_last": lambda: torch(64),
    "whygrad's agent, batch 1": lambda: agent(1),
}


def worker(name: str) -> None:
    """Do as many updates as each line says, and tell how long they took."""
    update = PYTHON[name]()
    update()
    update()
    print(json.dumps({"ready": name}), flush=True)
    for line in sys.stdin:
        cpu, wall = time.process_time(), time.perf_counter()
        for _ in range(int(line)):
            update()
        print(json.dumps({"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}), flush=True)


class Contender:
    def __init__(self, name: str, command: list[str], updates: int) -> None:
        self.name, self.updates = name, updates
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, env={**os.environ, **ONE_THREAD}, text=True, **pipes)
        self.cpu: list[float] = []
        self.wall: list[float] = []
        self.alive = bool(self._answer())

    def turn(self) -> None:
        if not self.alive:
            return
        self.process.stdin.write(f"{self.updates}\n")
        self.process.stdin.flush()
        answer = self._answer()
        self.alive = bool(answer)
        if answer:
            self.cpu.append(1e3 * answer["cpu"] / self.updates)
            self.wall.append(1e3 * answer["wall"] / self.updates)

    def _answer(self) -> dict:
        for line in self.process.stdout:
            if line.startswith("{"):
                return json.loads(line)
        return {}


def contenders(updates: int, tfjs: str | None) -> list[Contender]:
    made = [Contender(name, [sys.executable, __file__, "--worker", name], updates) for name in PYTHON]
    script = str(HERE / "snake_tfjs.cjs")
    if tfjs:
        made.append(Contender("tfjs-node", ["node", script, tfjs, "node", "64"], updates))
        made.append(Contender("tfjs, pure JavaScript, batch 1", ["node", script, tfjs, "cpu", "1"], 1))
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--updates", type=int, default=3, help="of each contender in a round")
    parser.add_argument("--tfjs", metavar="FOLDER", help="where npm installed TensorFlow.js")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        worker(args.worker)
        return
    field = contenders(args.updates, args.tfjs and str(Path(args.tfjs).resolve()))
    for _ in range(args.rounds):
        for contender in field:
            contender.turn()
    ours = {"64": field[0], "1": next(c for c in field if c.name == "whygrad's agent, batch 1")}
    print(f"CPU ms per update, {args.rounds} rounds of {args.updates}; load {os.getloadavg()[0]:.1f}")
    for contender in field:
        if not contender.cpu:
            print(f"  {contender.name:32} did not run")
            continue
        base = ours["1" if "batch 1" in contender.name else "64"]
        ratios = [other / mine for other, mine in zip(contender.cpu, base.cpu, strict=False)]
        cpu, wall, ratio = map(statistics.median, (contender.cpu, contender.wall, ratios))
        print(
            f"  {contender.name:32} min {min(contender.cpu):9.1f}  median {cpu:9.1f}  wall {wall:9.1f}"
            f"  ratio to ours {ratio:7.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        )
    if args.json:
        Path(args.json).write_text(
            json.dumps({c.name: {"cpu": c.cpu, "wall": c.wall} for c in field}, indent=1)
        )


if __name__ == "__main__":
    main()
