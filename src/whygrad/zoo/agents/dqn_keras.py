"""DQN in Keras: the network of a port from TensorFlow.js, in the form it should have (TensorFlow 2, Keras 3).

Mnih et al., Human-level control through deep reinforcement learning, 2015. The same algorithm as dqn.py; the
whole round of updates, replay buffer included, is one compiled function. Read it from top to bottom:
arguments, network, the agent (act, remember, update), files. Run it by itself, `python dqn_keras.py`, or with
a diagnosis, `whygrad train dqn_keras`.
"""

import argparse
import contextlib
import json
import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import gymnasium as gym
import keras
import numpy as np
import tensorflow as tf

with contextlib.suppress(RuntimeError):  # TensorFlow may be running already, in a notebook
    tf.config.threading.set_intra_op_parallelism_threads(1)  # such small networks are slower on two
    tf.config.threading.set_inter_op_parallelism_threads(1)


def arguments(argv=None):
    """Every argument, one line each."""
    parser = argparse.ArgumentParser(prog="dqn_keras", description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--env", default="CartPole-v1", help="a gymnasium environment with discrete actions")
    add("--seed", type=int, default=1, help="the same seed gives the same result")
    add("--steps", type=int, default=50_000, help="environment steps to train for")
    add("--eval-episodes", type=int, default=100, help="greedy episodes after the training; 0 for none")
    add("--save", metavar="FILE.npz", help="write the weights of the online network here at the end")
    add("--load", metavar="FILE.npz", help="begin with these weights")
    add(
        "--checkpoint",
        metavar="FILE.npz",
        help="write everything here now and then; go on from it if it exists",
    )
    add("--checkpoint-every", type=int, default=10_000, help="steps between two checkpoints")
    add("--curve", metavar="FILE.csv", help="write step, return and loss of every episode here")
    add("--hidden", type=int, default=128, help="units in each of the two hidden layers")
    add("--lr", type=float, default=2.3e-3, help="Adam's step size; falls to zero over the training")
    add("--gamma", type=float, default=0.99, help="discount of the next step's value")
    add("--buffer", type=int, default=100_000, help="transitions that the replay buffer holds")
    add("--batch", type=int, default=64, help="transitions in each gradient step")
    add("--learning-starts", type=int, default=1_000, help="random steps before the first update")
    add("--train-every", type=int, default=256, help="environment steps between two rounds of updates")
    add("--gradient-steps", type=int, default=128, help="gradient steps in a round")
    add("--sync-every", type=int, default=1, help="rounds after which the target network is renewed")
    add("--epsilon-end", type=float, default=0.04, help="share of random actions that stays")
    add("--epsilon-steps", type=float, default=0.16, help="part of the training in which epsilon falls to it")
    add("--max-grad-norm", type=float, default=10.0, help="longer gradients are scaled down to this norm")
    return parser.parse_args(argv)


class DQNModel(keras.Model):
    """The Q-network: a value for each action."""

    def __init__(self, actions, hidden):
        super().__init__()
        self.dense1 = keras.layers.Dense(hidden, activation="relu")
        self.dense2 = keras.layers.Dense(hidden, activation="relu")
        self.dense3 = keras.layers.Dense(actions)

    def call(self, inputs):
        """All values."""
        return self.dense3(self.dense2(self.dense1(inputs)))


class DQN:
    """The agent: what it has learned, what it remembers, and where its training stands."""

    def __init__(self, args):
        self.args = args
        self.rng = np.random.default_rng(args.seed)
        keras.utils.set_random_seed(args.seed)
        self.env = gym.make(args.env, disable_env_checker=True)
        observations, self.actions = self.env.observation_space.shape[0], int(self.env.action_space.n)
        self.online, self.target = DQNModel(self.actions, args.hidden), DQNModel(self.actions, args.hidden)
        for net in (self.online, self.target):
            net(tf.zeros((1, observations)))  # Keras makes the variables when a network is first called
        self.target.set_weights(self.online.get_weights())
        self.optimizer = keras.optimizers.Adam(args.lr, global_clipnorm=args.max_grad_norm)
        self.optimizer.build(self.online.trainable_variables)
        # The replay buffer lives where the updates run. A row: observation, next one, action, reward, end.
        self.widths = [observations, observations, 1, 1, 1]
        self.memory = tf.Variable(tf.zeros((args.buffer, sum(self.widths))), trainable=False)
        self.fresh_rows = []
        self.known = self.online.get_weights()
        self.step = self.stored = self.rounds = self.updates = 0
        self.loss = float("nan")
        self.curve = []  # step, return, loss of each episode

    def act(self, observation):
        """The greedy action."""
        return int(self.q_values(observation).argmax())

    def value(self, observation):
        """What the agent expects from here on."""
        return float(self.q_values(observation).max())

    def q_values(self, x):
        """The online network in numpy. Its weights are fetched once in a round, not at every step."""
        w1, b1, w2, b2, w3, b3 = self.known
        x = np.maximum(x @ w1 + b1, 0.0)
        return np.maximum(x @ w2 + b2, 0.0) @ w3 + b3

    def epsilon(self):
        """The share of random actions at this step."""
        args = self.args
        passed = self.step / max(args.epsilon_steps * args.steps, 1)
        return max(args.epsilon_end, 1.0 - passed * (1.0 - args.epsilon_end))

    def learn(self, steps, each_episode=lambda agent: None):
        """Train until this many environment steps are done."""
        args, env, rng = self.args, self.env, self.rng
        while self.step < steps:
            # A seed for every episode: what comes depends on the generator alone, which checkpoints keep.
            observation, _ = env.reset(seed=int(rng.integers(2**31)))
            episode_return, over = 0.0, False
            while not over and self.step < steps:
                explore = self.step < args.learning_starts or rng.random() < self.epsilon()
                action = int(rng.integers(self.actions)) if explore else self.act(observation)
                following, reward, terminated, truncated, _ = env.step(action)
                # Only `terminated` ends the future. A time limit cuts an episode that has a value.
                self.fresh_rows.append([*observation, *following, action, reward, terminated])
                observation, over = following, terminated or truncated
                episode_return += float(reward)
                self.step += 1
                if self.step % args.train_every == 0:
                    self.remember()
                    if self.step >= args.learning_starts:
                        self.update()
            if over:
                self.curve.append((self.step, episode_return, self.loss))
                each_episode(self)

    def remember(self):
        """Write what was collected into the replay buffer, over the oldest when it is full."""
        rows = (self.stored + np.arange(len(self.fresh_rows))) % self.args.buffer
        self.memory.scatter_nd_update(rows[:, None], np.array(self.fresh_rows, np.float32))
        self.stored += len(self.fresh_rows)
        self.fresh_rows = []

    def update(self):
        """One round of gradient steps: one call of a compiled function."""
        args = self.args
        self.optimizer.learning_rate.assign(args.lr * max(1.0 - self.step / args.steps, 0.0))
        filled = min(self.stored, args.buffer)
        drawn = self.rng.integers(filled, size=(args.gradient_steps, args.batch), dtype=np.int32)
        self.loss = float(self.round(tf.constant(drawn)))
        self.known = self.online.get_weights()
        self.updates += args.gradient_steps
        self.rounds += 1
        if self.rounds % args.sync_every == 0:
            self.target.set_weights(self.known)

    @tf.function(jit_compile=True)
    def round(self, drawn):
        """All gradient steps of a round, compiled together; the mean loss."""
        total = tf.constant(0.0)
        for i in tf.range(self.args.gradient_steps):
            total += self.gradient_step(tf.gather(self.memory, drawn[i]))
        return total / self.args.gradient_steps

    def gradient_step(self, batch):
        """One step of the online network."""
        observed, followed, actions, rewards, ends = tf.split(batch, self.widths, axis=1)
        taken = tf.one_hot(tf.cast(tf.squeeze(actions, 1), tf.int32), self.actions)
        # The targets are made outside of the tape: nothing is to flow into them.
        next_value = tf.reduce_max(self.target(followed), axis=1)
        targets = tf.squeeze(rewards, 1) + self.args.gamma * (1.0 - tf.squeeze(ends, 1)) * next_value
        with tf.GradientTape() as tape:
            q_taken = tf.reduce_sum(self.online(observed) * taken, axis=1)
            loss = tf.reduce_mean(tf.square(targets - q_taken))
        gradients = tape.gradient(loss, self.online.trainable_variables)
        self.optimizer.apply(gradients, self.online.trainable_variables)
        return loss

    def state(self):
        """Everything that the rest of the training depends on, as arrays."""
        arrays = {"memory": self.memory[: min(self.stored, self.args.buffer)].numpy()}
        arrays["fresh_rows"] = np.array(self.fresh_rows, np.float64).reshape(-1, sum(self.widths))
        for name, net in (("online", self.online), ("target", self.target)):
            arrays |= {f"{name}/{i}": w for i, w in enumerate(net.get_weights())}
        arrays |= {f"adam/{i}": v.numpy() for i, v in enumerate(self.optimizer.variables)}
        told = {"step": self.step, "stored": self.stored, "rounds": self.rounds, "updates": self.updates}
        told |= {"rng": self.rng.bit_generator.state, "curve": self.curve, "loss": self.loss}
        return arrays | {"told": np.array(json.dumps(told))}

    def restore(self, arrays):
        """Be exactly where ``state`` was taken."""
        self.memory[: len(arrays["memory"])].assign(arrays["memory"])
        self.fresh_rows = [list(row) for row in arrays["fresh_rows"]]
        load_network(self.online, arrays, "online/")
        load_network(self.target, arrays, "target/")
        self.known = self.online.get_weights()
        for i, variable in enumerate(self.optimizer.variables):
            variable.assign(arrays[f"adam/{i}"])
        told = json.loads(str(arrays["told"]))
        self.step, self.stored, self.rounds = told["step"], told["stored"], told["rounds"]
        self.updates, self.loss = told["updates"], told["loss"]
        self.curve = [tuple(row) for row in told["curve"]]
        self.rng.bit_generator.state = told["rng"]

    def weights(self):
        """The weights of the online network, as arrays."""
        return {f"online/{i}": w for i, w in enumerate(self.online.get_weights())}

    def load(self, arrays):
        """Begin with these weights, the target network too."""
        load_network(self.online, arrays, "online/")
        load_network(self.target, arrays, "online/")
        self.known = self.online.get_weights()


def load_network(net, arrays, prefix=""):
    """Write weights into the network."""
    try:
        net.set_weights([arrays[f"{prefix}{i}"] for i in range(len(net.weights))])
    except (KeyError, ValueError):
        sys.exit("dqn_keras: these weights belong to another network: check --hidden and --env")


def read(path):
    """The arrays of a file. No pickle is ever opened."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return dict(file)
    except (OSError, ValueError) as error:
        sys.exit(f"dqn_keras: {path} cannot be read: {error}")


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


def evaluate(agent, episodes, seed):
    """The returns of greedy episodes in a fresh environment."""
    env = gym.make(agent.args.env, disable_env_checker=True)
    returns = []
    for episode in range(episodes):
        observation, _ = env.reset(seed=seed + episode)
        total, over = 0.0, False
        while not over:
            observation, reward, terminated, truncated, _ = env.step(agent.act(observation))
            total, over = total + float(reward), terminated or truncated
        returns.append(total)
    return returns


class Progress:
    """A bar on a terminal, a line for every tenth otherwise; on stderr."""

    def __init__(self, agent, steps):
        self.steps, self.updates = max(steps, 1), agent.updates
        self.started, self.shown = time.perf_counter(), 0.0
        self.tenth = 10 * agent.step // self.steps

    def show(self, agent):
        """Tell how it goes, if it is time to."""
        now, tenth = time.perf_counter(), 10 * agent.step // self.steps
        bar = sys.stderr.isatty()
        if tenth == self.tenth and not (bar and now - self.shown > 0.2):
            return
        self.shown, self.tenth = now, tenth
        lately = [row[1] for row in agent.curve[-20:]]
        speed = (agent.updates - self.updates) / (now - self.started)
        text = f"step {agent.step:,} of {self.steps:,}  return {np.mean(lately):.1f}"
        text += f"  loss {agent.loss:.4g}  {speed:,.0f} updates/s"
        filled = 20 * agent.step // self.steps
        line = f"\r[{'#' * filled}{'.' * (20 - filled)}] {text}\033[K" if bar else f"{text}\n"
        sys.stderr.write(line + ("\n" if bar and agent.step >= self.steps else ""))
        sys.stderr.flush()


def make_agent(env, seed):
    """For `whygrad probe`: an agent with learn(steps), act and value, sized for tiny environments."""
    small = "--steps 3000 --learning-starts 100 --train-every 50 --gradient-steps 50 --lr 3e-3 --hidden 32"
    agent = DQN(arguments([*small.split(), "--env", env, "--seed", str(seed), "--gamma", "0.5"]))
    agent.gamma = agent.args.gamma
    return agent


def main():
    """Train, evaluate, save."""
    args = arguments()
    agent = DQN(args)
    if args.load:
        agent.load(read(args.load))
    if args.checkpoint and os.path.exists(args.checkpoint):
        agent.restore(read(args.checkpoint))
        print(f"going on from step {agent.step:,} of {args.checkpoint}", file=sys.stderr)
    progress, saved_at = Progress(agent, args.steps), agent.step

    def each_episode(agent):
        nonlocal saved_at
        progress.show(agent)
        if args.checkpoint and agent.step - saved_at >= args.checkpoint_every:
            write(args.checkpoint, agent.state())
            saved_at = agent.step

    agent.learn(args.steps, each_episode)
    if args.curve:
        write_curve(args.curve, agent.curve)
    if args.save:
        write(args.save, agent.weights())
    if args.eval_episodes:
        returns = evaluate(agent, args.eval_episodes, seed=10_000 + args.seed)
        print(f"evaluation: mean return {np.mean(returns):.1f} over {len(returns)} episodes of {args.env}")
    return agent


if __name__ == "__main__":
    agent = main()
