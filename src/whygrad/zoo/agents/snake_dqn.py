"""Snake with a deep Q-network: the TensorFlow.js example snake-dqn in TensorFlow, gradient for gradient.

    python snake_dqn.py                                    the original: 9x9, 1.1 million weights
    python snake_dqn.py --height 6 --width 6 --filters 16,32 --units 64 --steps 20000 --save small
    python snake_dqn.py --faithful                         with the original's quirks

Read it from top to bottom: the game, what the network sees, the network, the replay memory, the update, the
training. Needs TensorFlow (Keras 3) and numpy, nothing else.
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf

Square = tuple[int, int]  # (y, x), counted from the upper left corner

RIGHT, UP, LEFT, DOWN = (0, 1), (-1, 0), (0, -1), (1, 0)
COUNTERCLOCKWISE = (RIGHT, UP, LEFT, DOWN)
STRAIGHT, TURN_LEFT, TURN_RIGHT = range(3)
NO_FRUIT, FRUIT, DEATH = -0.2, 10.0, -10.0


class Snake:
    """The game. Actions are relative to where the snake is going: straight, left, right."""

    def __init__(
        self,
        height: int = 9,
        width: int = 9,
        fruits: int = 1,
        length: int = 2,
        random: Callable[[], float] | None = None,
        faithful: bool = False,
    ):
        if not (0 < length <= width and height > 0 and 0 < fruits <= height * width - length):
            raise ValueError(
                f"a snake of {length} and {fruits} fruit do not fit on {height} x {width} squares"
            )
        self.height, self.width, self.fruit_count, self.length = height, width, fruits, length
        self.random = random or np.random.default_rng().random
        self.faithful = faithful  # the original goes on when the board is full, and may stack two fruits
        self.reset()

    def reset(self) -> None:
        """A new game: the snake lies flat, its head to the right."""
        y = self._below(self.height)
        x = self.length - 1 + self._below(self.width - self.length + 1)
        self.body: deque[Square] = deque((y, x - i) for i in range(self.length))
        self.direction = RIGHT
        self.fruits: list[Square] = []
        self._grow_fruits()

    def step(self, action: int) -> tuple[float, bool]:
        """One move: the reward, and whether the game is over. A snake that dies stays where it is."""
        turn = {STRAIGHT: 0, TURN_LEFT: 1, TURN_RIGHT: -1}[action]
        self.direction = COUNTERCLOCKWISE[(COUNTERCLOCKWISE.index(self.direction) + turn) % 4]
        head = (self.body[0][0] + self.direction[0], self.body[0][1] + self.direction[1])
        on_board = 0 <= head[0] < self.height and 0 <= head[1] < self.width
        if not on_board or head in self.body:  # the square that the tail is about to leave counts, too
            return DEATH, True
        self.body.appendleft(head)
        if head not in self.fruits:
            self.body.pop()
            return NO_FRUIT, False
        self.fruits.remove(head)
        self._grow_fruits()
        return FRUIT, not self.fruits and not self.faithful

    def _grow_fruits(self) -> None:
        """Fruit on free squares. In the original a new one may land on one that is still there."""
        taken = set(self.body) if self.faithful else {*self.body, *self.fruits}
        free = [(y, x) for y in range(self.height) for x in range(self.width) if (y, x) not in taken]
        while free and len(self.fruits) < self.fruit_count:
            self.fruits.append(free.pop(self._below(len(free))))

    def _below(self, n: int) -> int:
        return math.floor(self.random() * n)


def encode(game: Snake, out: np.ndarray) -> np.ndarray:
    """What the network sees, [height, width, 2]: head 2 and body 1; fruit 1. Not where the snake is going."""
    out.fill(0)
    for square in game.body:
        out[(*square, 0)] = 1
    out[(*game.body[0], 0)] = 2
    for square in game.fruits:
        out[(*square, 1)] = 1
    return out


# The original draws from a normal distribution cut at two deviations and does not make up for what the cut
# takes away. Keras does, by dividing by this number.
CUT_NORMAL = 0.87962566103423978


def build_network(
    height: int, width: int, filters: Sequence[int] = (128, 256, 256), units: int = 100, dropout: float = 0.25
) -> keras.Sequential:
    """3x3 convolutions with batch normalisation after the ReLU, one hidden layer, one value per action."""
    if 2 * len(filters) >= min(height, width):
        raise ValueError(f"{len(filters)} convolutions of 3x3 do not fit on {height} x {width} squares")

    def init() -> keras.initializers.Initializer:
        return keras.initializers.VarianceScaling(CUT_NORMAL**2, "fan_avg", "truncated_normal")

    layers: list[keras.Layer] = [keras.Input((height, width, 2))]
    for i, n in enumerate(filters):
        layers.append(keras.layers.Conv2D(n, 3, activation="relu", kernel_initializer=init()))
        if i + 1 < len(filters):
            layers.append(keras.layers.BatchNormalization(momentum=0.99, epsilon=1e-3))
    layers += [
        keras.layers.Flatten(),
        keras.layers.Dense(units, activation="relu", kernel_initializer=init()),
        keras.layers.Dropout(dropout),
        keras.layers.Dense(3, kernel_initializer=init()),
    ]
    return keras.Sequential(layers)


class Adam(keras.optimizers.Adam):
    """Adam as in the paper, in PyTorch and in TensorFlow.js: epsilon is added after the bias correction.

    Keras adds it before, which makes it up to 30 times larger in the first steps.
    """

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """One step for one variable."""
        step = tf.cast(self.iterations + 1, variable.dtype)
        m, v = (
            moments[self._get_variable_index(variable)] for moments in (self._momentums, self._velocities)
        )
        m.assign_add((gradient - m) * (1 - self.beta_1))
        v.assign_add((tf.square(gradient) - v) * (1 - self.beta_2))
        mean = m / (1 - self.beta_1**step)
        deviation = tf.sqrt(v / (1 - self.beta_2**step))
        variable.assign_sub(tf.cast(learning_rate, variable.dtype) * mean / (deviation + self.epsilon))


class Replay:
    """The last transitions, in arrays: boards hold 0, 1 and 2 only, so a byte per square is enough."""

    def __init__(self, capacity: int, height: int, width: int, rng: np.random.Generator):
        self.states = np.zeros((capacity, height, width, 2), np.uint8)
        self.next_states = np.zeros_like(self.states)
        self.actions = np.zeros(capacity, np.int32)
        self.rewards = np.zeros(capacity, np.float32)
        self.dones = np.zeros(capacity, np.float32)
        self.capacity, self.rng, self.count = capacity, rng, 0

    def append(
        self, state: np.ndarray, action: int, reward: float, done: bool, next_state: np.ndarray
    ) -> None:
        """Remember a step in place of the oldest one. After a death there is no board: all zeros."""
        i = self.count % self.capacity
        self.states[i], self.actions[i], self.rewards[i], self.dones[i] = state, action, reward, done
        self.next_states[i] = 0 if done else next_state
        self.count += 1

    def sample(self, n: int) -> tuple[np.ndarray, ...]:
        """A batch in which no step is twice."""
        i = self.rng.choice(min(self.count, self.capacity), n, replace=False)
        return self.states[i], self.actions[i], self.rewards[i], self.dones[i], self.next_states[i]


def td_loss(online: Any, target: Any, batch: Sequence[Any], gamma: float, double: bool = False) -> Any:
    """mean (r + gamma (1 - done) max Q_target(s') - Q_online(s, a))^2; only ``online`` learns."""
    states, actions, rewards, dones, next_states = batch
    states, next_states = tf.cast(states, tf.float32), tf.cast(next_states, tf.float32)
    next_q = target(next_states, training=False)
    if double:  # the online network chooses, the target network judges
        choice = tf.argmax(online(next_states, training=False), axis=-1, output_type=tf.int32)
        best = tf.gather(next_q, choice, batch_dims=1)
    else:
        best = tf.reduce_max(next_q, axis=-1)
    goal = tf.stop_gradient(rewards + gamma * (1 - dones) * best)
    q = tf.gather(online(states, training=True), actions, batch_dims=1)
    return tf.reduce_mean(tf.square(goal - q))


class Agent:
    """Two networks, the optimizer and the two compiled functions: act and update."""

    def __init__(self, args: argparse.Namespace, rng: np.random.Generator):
        shape = (args.height, args.width, args.filters, args.units, args.dropout)
        self.online, self.target = build_network(*shape), build_network(*shape)
        self.target.trainable = False
        if not args.faithful:  # the original starts with a target of its own until the first sync
            self.sync()
        self.optimizer = Adam(args.learning_rate, epsilon=1e-7)
        self.optimizer.build(self.online.trainable_variables)
        self.gamma, self.double, self.rng = args.gamma, args.double, rng
        # XLA makes the original's network a third faster, and a small one slower.
        large = self.online.count_params() > 200_000
        xla = args.xla == "on" or (args.xla == "auto" and large)
        self.update = tf.function(self._update, jit_compile=xla)
        self.values = tf.function(
            self._values, input_signature=[tf.TensorSpec([None, *shape[:2], 2], tf.uint8)]
        )

    def act(self, state: np.ndarray, epsilon: float = 0.0) -> int:
        """The best action, or with probability ``epsilon`` any."""
        if self.rng.random() < epsilon:
            return int(self.rng.integers(3))
        return int(self.values(state[None])[0].numpy().argmax())

    def sync(self) -> None:
        """The target network becomes a copy of the online network, moving averages included."""
        self.target.set_weights(self.online.get_weights())

    def _values(self, states: Any) -> Any:
        return self.online(tf.cast(states, tf.float32), training=False)

    def _update(self, *batch: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = td_loss(self.online, self.target, batch, self.gamma, self.double)
        variables = self.online.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss


class Average:
    """The mean of the last 100 values; faithful: of 100, with nothing in the places of those to come."""

    def __init__(self, faithful: bool, n: int = 100):
        self.values: deque[float] = deque([0.0] * n if faithful else [], n)

    def add(self, value: float) -> float:
        """One more, and the mean."""
        self.values.append(value)
        return sum(self.values) / len(self.values)


@dataclass
class Progress:
    """What happened so far, episode by episode; keeps the best network on disk."""

    args: argparse.Namespace
    agent: Agent
    best: float = -math.inf
    episodes: int = 0
    rows: list[tuple[int, int, float, float, float]] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    started: float = field(default_factory=time.perf_counter)

    def __post_init__(self) -> None:
        self.rewards, self.fruits = Average(self.args.faithful), Average(self.args.faithful)
        self.said = 0

    def episode(self, frame: int, reward: float, fruits: int, epsilon: float) -> bool:
        """An episode is over: note it, save if it is the best so far, and say whether the goal is reached."""
        self.episodes += 1
        mean, eaten = self.rewards.add(reward), self.fruits.add(fruits)
        self.rows.append((frame, self.episodes, round(mean, 3), round(eaten, 3), round(epsilon, 4)))
        full = self.args.faithful or self.episodes >= 100  # a mean of a few episodes says little
        reached = full and mean >= self.args.goal
        if reached and self.args.faithful:
            return True  # the original stops before it saves
        if full and mean > self.best:
            self.best = mean
            self.save("best")
        return reached

    def say(self, frame: int, epsilon: float) -> None:
        """One line now and then."""
        if self.args.quiet or frame - self.said < self.args.report:
            return
        rate = (frame - self.said) / (time.perf_counter() - self.started)
        self.said, self.started = frame, time.perf_counter()
        _, _, reward, fruits, _ = self.rows[-1] if self.rows else (0, 0, 0.0, 0.0, 0.0)
        print(
            f"frame {frame:7d}  episode {self.episodes:6d}  reward {reward:7.2f}  fruit {fruits:6.2f}"
            f"  epsilon {epsilon:.3f}  {rate:6.0f} frames/s",
            flush=True,
        )
        self.write_rows()

    def save(self, name: str) -> None:
        """Keep the online network."""
        if self.args.save:
            self.agent.online.save(self.args.save / f"{name}.keras")

    def write_rows(self) -> None:
        """The learning curve so far, as a table."""
        if self.args.save:
            with (self.args.save / "progress.csv").open("w", newline="") as file:
                csv.writer(file).writerows(
                    [("frame", "episode", "reward100", "fruits100", "epsilon"), *self.rows]
                )


def train(args: argparse.Namespace) -> Agent:
    """One frame is one update and one move, in this order; the memory is filled first."""
    rng = np.random.default_rng(args.seed)
    keras.utils.set_random_seed(int(rng.integers(2**31)) if args.seed is None else args.seed)
    agent = Agent(args, rng)
    game = Snake(args.height, args.width, args.fruits, args.length, rng.random, args.faithful)
    replay = Replay(args.replay, args.height, args.width, rng)
    progress = Progress(args, agent)
    state, next_state = (encode(game, np.zeros((args.height, args.width, 2), np.uint8)) for _ in range(2))
    reward_sum, eaten, reached, frame = 0.0, 0, False, 0
    while frame < args.steps and not reached:
        if frame >= args.prefill:
            agent.update(*replay.sample(args.batch))
        epsilon = max(
            args.epsilon[0] + (args.epsilon[1] - args.epsilon[0]) * frame / args.epsilon_frames,
            args.epsilon[1],
        )
        frame += 1
        action = agent.act(state, epsilon)
        reward, done = game.step(action)
        replay.append(state, action, reward, done, encode(game, next_state))
        reward_sum, eaten = reward_sum + reward, eaten + (reward == FRUIT)
        if done:
            reached = progress.episode(frame, reward_sum, eaten, epsilon)
            game.reset()
            encode(game, next_state)
            reward_sum, eaten = 0.0, 0
        state, next_state = next_state, state
        if frame % args.sync == 0 and frame > args.prefill:
            agent.sync()
        progress.say(frame, epsilon)
    progress.write_rows()
    progress.save("last")
    return agent


def evaluate(agent: Agent, args: argparse.Namespace, games: int = 100, seed: int = 1) -> float:
    """Mean fruit per game without exploration; a snake that goes in circles is stopped."""
    random = np.random.default_rng(seed).random
    patience = 4 * args.height * args.width
    total, state = 0, np.zeros((args.height, args.width, 2), np.uint8)
    for _ in range(games):
        game, done, hungry = Snake(args.height, args.width, args.fruits, args.length, random), False, 0
        while not done and hungry < patience:
            reward, done = game.step(agent.act(encode(game, state)))
            hungry = 0 if reward == FRUIT else hungry + 1
            total += reward == FRUIT
    return total / games


FAITHFUL = """with the quirks of the original: target not synced at the start, averages padded with zeros, the
network that reaches the goal not saved, no end on a full board"""


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """The options; what is not given is as in the original."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--steps", type=int, default=1_000_000, help="frames at most, the filling of the memory included")
    add("--seed", type=int, help="the same numbers again (default: other ones each time)")
    add("--save", type=Path, metavar="DIR", help="keep best.keras, last.keras and progress.csv here")
    add("--faithful", action="store_true", help=FAITHFUL)
    add("--height", type=int, default=9, help="rows of the board")
    add("--width", type=int, default=9, help="columns of the board")
    add("--fruits", type=int, default=1, help="fruits at a time")
    add("--length", type=int, default=2, help="of the snake at the start")
    add("--filters", type=_numbers(int), default=(128, 256, 256), help="of the convolutions: 128,256,256")
    add("--units", type=int, default=100, help="of the hidden layer")
    add("--dropout", type=float, default=0.25, help="after the hidden layer")
    add("--batch", type=int, default=64, help="transitions per update")
    add("--replay", type=int, default=10_000, help="transitions that are remembered")
    add("--prefill", type=int, help="frames before the first update (default: until the memory is full)")
    add("--epsilon", type=_numbers(float), default=(0.5, 0.01), metavar="A,B", help="exploration from A to B")
    add("--epsilon-frames", type=int, default=100_000, help="frames on the way from A to B")
    add("--gamma", type=float, default=0.99, help="discount")
    add("--learning-rate", type=float, default=1e-3, help="of Adam")
    add("--sync", type=int, default=1000, help="frames between two copies to the target network")
    add("--double", action="store_true", help="double Q-learning: the online network chooses the next action")
    add("--goal", type=float, default=100.0, help="stop when the mean reward of 100 episodes is this")
    add(
        "--xla", choices=["auto", "on", "off"], default="auto", help="compile with XLA (auto: large networks)"
    )
    add("--report", type=int, default=1000, metavar="N", help="say something every N frames")
    add("--quiet", action="store_true", help="say nothing")
    args = parser.parse_args(argv)
    args.prefill = args.replay if args.prefill is None else args.prefill
    if args.prefill < args.batch or args.replay < args.batch:
        parser.error(f"--replay and --prefill must hold at least one batch of {args.batch}")
    return args


def _numbers(kind: Callable[[str], Any]) -> Callable[[str], tuple[Any, ...]]:
    def convert(text: str) -> tuple[Any, ...]:
        return tuple(kind(part) for part in text.split(","))

    convert.__name__ = "list of numbers"
    return convert


def main(argv: Sequence[str] | None = None) -> int:
    """Train; then say how well it plays."""
    args = parse(argv)
    try:
        if args.save:
            args.save.mkdir(parents=True, exist_ok=True)
        agent = train(args)
    except (ValueError, OSError) as error:
        print(f"snake_dqn: {error}", file=sys.stderr)
        return 2
    if not args.quiet:
        print(f"mean fruit over 100 games without exploration: {evaluate(agent, args):.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
