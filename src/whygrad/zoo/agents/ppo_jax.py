"""PPO with the environment inside: a whole training, of many seeds at once, is one compiled function (JAX).

Schulman et al., Proximal policy optimization algorithms, 2017, in the style of PureJaxRL. Read it from top to
bottom: arguments, environment, networks, one training (play, advantages, update), files.
Run it by itself, `python ppo_jax.py`, or with a diagnosis, `whygrad train ppo_jax`.
"""

import argparse
import os
import sys
import time
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax


def arguments(argv=None):
    """Every argument, one line each."""
    parser = argparse.ArgumentParser(prog="ppo_jax", description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--seed", type=int, default=1, help="the first seed; the same seed gives the same result")
    add("--seeds", type=int, default=4, help="trainings that run side by side, each with a seed of its own")
    add("--steps", type=int, default=100_000, help="environment steps of each training")
    add("--eval-episodes", type=int, default=100, help="greedy episodes after each training; 0 for none")
    add("--save", metavar="FILE.npz", help="write the weights of the first training here at the end")
    add("--load", metavar="FILE.npz", help="begin with these weights, in all trainings")
    add(
        "--curve",
        metavar="FILE.csv",
        help="write step, return and loss of the first training's episodes here",
    )
    add("--envs", type=int, default=8, help="copies of the environment that are stepped together")
    add("--rollout", type=int, default=32, help="steps of each copy between two rounds of updates")
    add("--hidden", type=int, default=64, help="units in each of the two hidden layers")
    add("--lr", type=float, default=1e-3, help="Adam's step size; falls to zero over the training")
    add("--gamma", type=float, default=0.98, help="discount of the next step's value")
    add("--gae-lambda", type=float, default=0.8, help="0: one-step advantages, 1: whole returns")
    add("--epochs", type=int, default=20, help="passes over each rollout")
    add("--batches", type=int, default=1, help="gradient steps in each pass")
    add("--clip", type=float, default=0.2, help="how far the ratio may move")
    add("--value-share", type=float, default=0.5, help="weight of the value loss")
    add("--entropy-share", type=float, default=0.0, help="weight of the entropy bonus")
    add("--max-grad-norm", type=float, default=0.5, help="longer gradients are scaled down to this norm")
    args = parser.parse_args(argv)
    if args.envs * args.rollout % args.batches:
        parser.error("--batches has to divide --envs times --rollout")
    return args


class World(NamedTuple):
    """A pole on a cart: position and speed of the cart, angle and speed of the pole; and the time."""

    body: jax.Array
    time: jax.Array


OBSERVATIONS, ACTIONS, TIME_LIMIT = 4, 2, 500


def begin(key):
    """A new episode: nearly upright, nearly at rest."""
    return World(jax.random.uniform(key, (4,), minval=-0.05, maxval=0.05), jnp.zeros((), jnp.int32))


def push(world, action):
    """A fiftieth of a second, pushed to the left (0) or the right (1): the world after it, and if it fell."""
    x, speed, angle, turning = world.body
    sin, cos = jnp.sin(angle), jnp.cos(angle)
    force = 20.0 * action - 10.0
    pull = (force + 0.05 * turning**2 * sin) / 1.1  # 0.05: mass times half length of the pole; 1.1: all mass
    swing = (9.8 * sin - cos * pull) / (0.5 * (4 / 3 - 0.1 * cos**2 / 1.1))
    drive = pull - 0.05 * swing * cos / 1.1
    body = jnp.stack([x + 0.02 * speed, speed + 0.02 * drive, angle + 0.02 * turning, turning + 0.02 * swing])
    fell = (jnp.abs(body[0]) > 2.4) | (jnp.abs(body[2]) > 12 * jnp.pi / 180)
    return World(body, world.time + 1), fell


def network(key, sizes, last_gain):
    """Weights and biases of a few layers; the gain of the last one says how bold the first answers are."""
    keys = jax.random.split(key, len(sizes) - 1)
    gains = [2**0.5] * (len(sizes) - 2) + [last_gain]
    return [
        {"weight": jax.nn.initializers.orthogonal(gain)(k, (i, o)), "bias": jnp.zeros(o)}
        for k, gain, i, o in zip(keys, gains, sizes[:-1], sizes[1:], strict=True)
    ]


def forward(layers, x):
    """What the network answers."""
    *hidden, last = layers
    for layer in hidden:
        x = jnp.tanh(x @ layer["weight"] + layer["bias"])
    return x @ last["weight"] + last["bias"]


class Transition(NamedTuple):
    """What is kept of one step of every copy."""

    observed: jax.Array
    acted: jax.Array
    log_prob: jax.Array
    following: jax.Array  # what was observed next, before a new episode began
    terminated: jax.Array
    over: jax.Array
    finished: jax.Array  # the return of the episode that ended here


class Training(NamedTuple):
    """Where one training stands: the carry of the scan over its rounds."""

    params: dict
    opt_state: tuple
    worlds: World
    returns: jax.Array
    key: jax.Array


class PPO:
    """The agent: as many trainings as there are seeds, in arrays with one axis more."""

    def __init__(self, args):
        self.args = args
        self.rounds = max(args.steps // (args.envs * args.rollout), 1)
        updates = self.rounds * args.epochs * args.batches
        self.optimizer = optax.chain(
            optax.clip_by_global_norm(args.max_grad_norm),
            optax.adam(optax.linear_schedule(args.lr, 0.0, updates), eps=1e-5),
        )
        keys = jax.vmap(jax.random.key)(args.seed + jnp.arange(args.seeds))
        self.training = jax.vmap(self.start)(keys)
        self.train = jax.jit(self.all_rounds, static_argnums=1)
        self.step = self.updates = 0
        self.curve = []  # step, return, loss of each episode of the first training

    def start(self, key):
        """One training before its first round."""
        key, to_policy, to_value, to_worlds = jax.random.split(key, 4)
        hidden = [self.args.hidden] * 2
        params = {
            "policy": network(to_policy, [OBSERVATIONS, *hidden, ACTIONS], last_gain=0.01),
            "value": network(to_value, [OBSERVATIONS, *hidden, 1], last_gain=1.0),
        }
        worlds = jax.vmap(begin)(jax.random.split(to_worlds, self.args.envs))
        return Training(params, self.optimizer.init(params), worlds, jnp.zeros(self.args.envs), key)

    def learn(self, steps=None):
        """Train until this many environment steps are done: all rounds of all seeds in one call."""
        per_round = self.args.envs * self.args.rollout
        rounds = self.rounds if steps is None else -(-(steps - self.step) // per_round)
        if rounds > 0:
            self.training, (losses, finished) = jax.block_until_ready(self.train(self.training, rounds))
            self._count_returns(np.asarray(losses[0]), np.asarray(finished[0]))
            self.step += rounds * per_round
            self.updates += rounds * self.args.epochs * self.args.batches

    def all_rounds(self, trainings, rounds):
        """What is compiled: for every seed, a scan over the rounds."""
        return jax.vmap(lambda training: jax.lax.scan(self.round, training, length=rounds))(trainings)

    def _count_returns(self, losses, finished):
        for i, t, copy in np.argwhere(np.isfinite(finished)):
            step = self.step + ((i * self.args.rollout) + t + 1) * self.args.envs
            self.curve.append((int(step), float(finished[i, t, copy]), float(losses[i])))

    def round(self, training, _):
        """Play one rollout and learn from it."""
        training, rollout = jax.lax.scan(self.play, training, length=self.args.rollout)
        advantages, returns = self.advantages(training.params, rollout)
        table = (rollout.observed, rollout.acted, rollout.log_prob, advantages, returns)
        table = jax.tree.map(lambda column: column.reshape(-1, *column.shape[2:]), table)
        training, losses = jax.lax.scan(
            lambda training, _: self.epoch(training, table), training, length=self.args.epochs
        )
        return training, (losses.mean(), rollout.finished)

    def play(self, training, _):
        """One step of every copy; where an episode is over, the next one begins."""
        key, to_act, to_begin = jax.random.split(training.key, 3)
        observed = training.worlds.body
        logits = forward(training.params["policy"], observed)
        acted = jax.random.categorical(to_act, logits)
        worlds, fell = jax.vmap(push)(training.worlds, acted)
        over = fell | (worlds.time >= TIME_LIMIT)
        returns = training.returns + 1.0  # a reward of 1 for every step
        seen = Transition(
            observed=observed,
            acted=acted,
            log_prob=log_prob(logits, acted),
            following=worlds.body,
            terminated=fell.astype(jnp.float32),
            over=over.astype(jnp.float32),
            finished=jnp.where(over, returns, jnp.nan),
        )
        fresh = jax.vmap(begin)(jax.random.split(to_begin, self.args.envs))
        body = jnp.where(over[:, None], fresh.body, worlds.body)
        worlds = World(body, jnp.where(over, fresh.time, worlds.time))
        returns = jnp.where(over, 0.0, returns)
        return training._replace(worlds=worlds, returns=returns, key=key), seen

    def advantages(self, params, rollout):
        """Generalised advantage estimates, and the returns that the value network shall learn."""
        gamma, decay = self.args.gamma, self.args.gamma * self.args.gae_lambda
        values = forward(params["value"], rollout.observed).squeeze(-1)
        # After a time limit the next observation's value counts; after a fall there is nothing to come.
        following = forward(params["value"], rollout.following).squeeze(-1)
        surprises = 1.0 + gamma * (1.0 - rollout.terminated) * following - values

        def back(later, now):
            surprise, over = now
            later = surprise + decay * (1.0 - over) * later
            return later, later

        _, found = jax.lax.scan(back, jnp.zeros(self.args.envs), (surprises, rollout.over), reverse=True)
        return found, found + values

    def epoch(self, training, table):
        """One pass over the rollout, in another order each time."""
        key, to_order = jax.random.split(training.key)
        order = jax.random.permutation(to_order, len(table[0])).reshape(self.args.batches, -1)
        batches = jax.tree.map(lambda column: column[order], table)
        training, losses = jax.lax.scan(self.update, training._replace(key=key), batches)
        return training, losses.mean()

    def update(self, training, batch):
        """One gradient step."""
        loss, grads = jax.value_and_grad(self.loss)(training.params, batch)
        updates, opt_state = self.optimizer.update(grads, training.opt_state, training.params)
        params = optax.apply_updates(training.params, updates)
        return training._replace(params=params, opt_state=opt_state), loss

    def loss(self, params, batch):
        """The clipped surrogate, what the value network is wrong by, and a bonus for being undecided."""
        args = self.args
        observed, acted, old_log_probs, advantages, returns = batch
        logits = forward(params["policy"], observed)
        ratio = jnp.exp(log_prob(logits, acted) - old_log_probs)
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        clipped = jnp.clip(ratio, 1 - args.clip, 1 + args.clip)
        policy_loss = -jnp.minimum(ratio * advantages, clipped * advantages).mean()
        value_loss = jnp.square(forward(params["value"], observed).squeeze(-1) - returns).mean()
        return policy_loss + args.value_share * value_loss - args.entropy_share * entropy(logits)

    def weights(self, which=0):
        """The weights of one training, as arrays with names."""
        leaves, _ = jax.tree_util.tree_flatten_with_path(self.training.params)
        return {jax.tree_util.keystr(p, simple=True, separator="/"): np.asarray(x[which]) for p, x in leaves}

    def load(self, arrays):
        """Begin with these weights, in all trainings."""

        def one(path, now):
            found = arrays[jax.tree_util.keystr(path, simple=True, separator="/")]
            return jnp.broadcast_to(found, now.shape)

        try:
            params = jax.tree_util.tree_map_with_path(one, self.training.params)
        except (KeyError, ValueError):
            sys.exit("ppo_jax: these weights belong to another network: check --hidden")
        self.training = self.training._replace(params=params)


def log_prob(logits, actions):
    """The log-probabilities of these actions."""
    return jnp.take_along_axis(jax.nn.log_softmax(logits), actions[:, None], axis=1).squeeze(1)


def entropy(logits):
    """How undecided the policy is, on average."""
    log_probs = jax.nn.log_softmax(logits)
    return -(jnp.exp(log_probs) * log_probs).sum(axis=1).mean()


def evaluate(agent, episodes, seed):
    """The returns of greedy episodes: one row for each training."""

    def episode(policy, key):
        def step(now, _):
            world, upright = now
            world, fell = push(world, forward(policy, world.body).argmax())
            return (world, upright & ~fell), upright

        _, upright = jax.lax.scan(step, (begin(key), jnp.array(True)), length=TIME_LIMIT)
        return upright.sum()

    keys = jax.random.split(jax.random.key(seed), episodes)
    every = jax.vmap(jax.vmap(episode, in_axes=(None, 0)), in_axes=(0, None))
    return np.asarray(jax.jit(every)(agent.training.params["policy"], keys))


def read(path):
    """The arrays of a file. No pickle is ever opened."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return dict(file)
    except (OSError, ValueError) as error:
        sys.exit(f"ppo_jax: {path} cannot be read: {error}")


def write(path, arrays):
    """The whole file or nothing: a kill in the middle leaves the old one."""
    with open(f"{path}.part", "wb") as file:
        np.savez(file, **arrays)
    os.replace(f"{path}.part", path)


def write_curve(path, curve):
    """One line for each episode."""
    with open(path, "w", encoding="utf-8") as file:
        file.write("step,return,loss\n")
        file.writelines(f"{step},{value:g},{loss:g}\n" for step, value, loss in curve)


def main():
    """Train, evaluate, save."""
    args = arguments()
    agent = PPO(args)
    if args.load:
        agent.load(read(args.load))
    started = time.perf_counter()
    if args.steps > 0:
        agent.learn()
    seconds = time.perf_counter() - started
    done = f"{args.seeds} trainings of {agent.step:,} steps in {seconds:.1f} s, compiling included"
    print(f"{done}: {args.seeds * agent.updates:,} updates", file=sys.stderr)
    if args.curve:
        write_curve(args.curve, agent.curve)
    if args.save:
        write(args.save, agent.weights())
    if args.eval_episodes:
        returns = evaluate(agent, args.eval_episodes, seed=10_000 + args.seed)
        for seed, row in enumerate(returns, start=args.seed):
            print(f"evaluation: mean return {row.mean():.1f} over {len(row)} episodes, seed {seed}")
    return agent


if __name__ == "__main__":
    agent = main()
