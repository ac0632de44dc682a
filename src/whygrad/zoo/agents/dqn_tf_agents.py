"""DQN with TF-Agents: a real DqnAgent, with summaries of raw and clipped gradients (TF-Agents 0.19).

The agent, the replay buffer and the driver are TF-Agents' own; this file puts them together in the way that
shows every gradient. Read it from top to bottom: arguments, environment, clipping, the agent, files. Run it
by itself, `python dqn_tf_agents.py`, or with a diagnosis, `whygrad train dqn_tf_agents`.
"""

import argparse
import contextlib
import json
import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ["TF_USE_LEGACY_KERAS"] = "1"  # TF-Agents is written for Keras 2
import gymnasium as gym
import numpy as np
import tensorflow as tf
from tf_agents.agents.dqn import dqn_agent
from tf_agents.drivers import dynamic_step_driver
from tf_agents.environments import py_environment, tf_py_environment
from tf_agents.networks import sequential
from tf_agents.policies import random_tf_policy
from tf_agents.replay_buffers import tf_uniform_replay_buffer
from tf_agents.specs import array_spec
from tf_agents.trajectories import time_step as ts
from tf_agents.utils import common

with contextlib.suppress(RuntimeError):  # TensorFlow may be running already, in a notebook
    tf.config.threading.set_intra_op_parallelism_threads(1)  # such small networks are slower on two
    tf.config.threading.set_inter_op_parallelism_threads(1)


def arguments(argv=None):
    """Every argument, one line each."""
    parser = argparse.ArgumentParser(prog="dqn_tf_agents", description=__doc__.splitlines()[0])
    add = parser.add_argument
    add(
        "--env", default="CartPole-v1", help="a gymnasium environment with discrete actions; line: a tiny one"
    )
    add("--seed", type=int, default=1, help="the same seed gives the same result")
    add("--steps", type=int, default=50_000, help="environment steps to train for")
    add("--eval-episodes", type=int, default=100, help="greedy episodes after the training; 0 for none")
    add("--save", metavar="FILE.npz", help="write the weights of the Q-network here at the end")
    add("--load", metavar="FILE.npz", help="begin with these weights")
    add(
        "--checkpoint",
        metavar="FILE.npz",
        help="write everything here now and then; go on from it if it exists",
    )
    add("--checkpoint-every", type=int, default=10_000, help="steps between two checkpoints")
    add("--curve", metavar="FILE.csv", help="write step, return and loss of every episode here")
    add("--summaries", metavar="DIR", help="write TensorBoard summaries of gradients and variables here")
    add("--hidden", type=int, default=128, help="units in each of the two hidden layers")
    add("--lr", type=float, default=2.3e-3, help="Adam's step size; falls to zero over the training")
    add("--gamma", type=float, default=0.99, help="discount of the next step's value")
    add("--buffer", type=int, default=50_000, help="steps that the replay buffer holds")
    add("--batch", type=int, default=64, help="transitions in each gradient step")
    add("--learning-starts", type=int, default=1_000, help="random steps before the first update")
    add("--train-every", type=int, default=256, help="environment steps between two rounds of updates")
    add(
        "--gradient-steps",
        type=int,
        default=128,
        help="gradient steps in a round, then the target is renewed",
    )
    add("--epsilon-end", type=float, default=0.04, help="share of random actions that stays")
    add("--epsilon-steps", type=float, default=0.16, help="part of the training in which epsilon falls to it")
    add(
        "--max-grad-norm",
        type=float,
        default=10.0,
        help="longer gradients are scaled down to this norm",
    )
    return parser.parse_args(argv)


class Line(gym.Env):
    """A small environment for debugging: four places in a row, and a reward at the right end."""

    observation_space = gym.spaces.Box(0.0, 1.0, (4,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        """Begin at the left end."""
        super().reset(seed=seed)
        self.place, self.time = 0, 0
        return np.eye(4, dtype=np.float32)[self.place], {}

    def step(self, action):
        """One place to the left or to the right."""
        self.place, self.time = max(self.place + (1 if action else -1), 0), self.time + 1
        there = self.place == 3
        return np.eye(4, dtype=np.float32)[self.place], float(there), there, self.time >= 12, {}


def make_env(name):
    """By name, or the small one."""
    return Line() if name == "line" else gym.make(name, disable_env_checker=True)


class Environment(py_environment.PyEnvironment):
    """A gymnasium environment as TF-Agents wants it: specs, and time steps with a discount."""

    def __init__(self, name, seed):
        super().__init__()
        self.env, self.seed_of_next = make_env(name), seed
        space = self.env.observation_space
        self.total, self.returns = 0.0, []
        self._observed = array_spec.ArraySpec(space.shape, np.float32, "observation")
        last = int(self.env.action_space.n) - 1
        self._acted = array_spec.BoundedArraySpec((), np.int64, minimum=0, maximum=last, name="action")

    def observation_spec(self):
        """What is seen."""
        return self._observed

    def action_spec(self):
        """What can be done."""
        return self._acted

    def _reset(self):
        observation, _ = self.env.reset(seed=self.seed_of_next)
        self.seed_of_next, self.total = None, 0.0
        return ts.restart(np.asarray(observation, np.float32))

    def _step(self, action):
        if self._current_time_step is None or self._current_time_step.is_last():
            return self._reset()
        observation, reward, terminated, truncated, _ = self.env.step(int(action))
        observation, reward = np.asarray(observation, np.float32), np.float32(reward)
        self.total += float(reward)
        if terminated or truncated:
            self.returns.append(self.total)
        # Only `terminated` ends the future. A time limit cuts an episode that has a value: discount 1.
        if terminated:
            return ts.termination(observation, reward)
        return ts.truncation(observation, reward, 1.0) if truncated else ts.transition(observation, reward)


class ClippingAdam(tf.keras.optimizers.Adam):
    """Adam that clips by itself, and summarizes each gradient raw and clipped."""

    def __init__(self, learning_rate, max_norm, counter):
        super().__init__(learning_rate)
        self.max_norm, self.counter = max_norm, counter

    def apply_gradients(self, grads_and_vars, **kwargs):
        """What comes from the tape is raw; what is applied is clipped."""
        pairs = list(grads_and_vars)
        scaled, _ = tf.clip_by_global_norm([gradient for gradient, _ in pairs], self.max_norm)
        clipped = [(gradient, variable) for gradient, (_, variable) in zip(scaled, pairs, strict=True)]
        for (raw, variable), (after, _) in zip(pairs, clipped, strict=True):
            name = variable.name.partition(":")[0]
            tf.summary.scalar(f"gradients/raw/{name}", tf.norm(raw), step=self.counter)
            tf.summary.scalar(f"gradients/clipped/{name}", tf.norm(after), step=self.counter)
        return super().apply_gradients(clipped, **kwargs)


class DQN:
    """TF-Agents' parts put together, and where the training stands."""

    def __init__(self, args):
        self.args = args
        tf.keras.utils.set_random_seed(args.seed)
        self.py_env = Environment(args.env, args.seed)
        self.env = tf_py_environment.TFPyEnvironment(self.py_env)
        self.counter = tf.Variable(0, dtype=tf.int64)
        self.epsilon, self.step, self.updates = tf.Variable(1.0), 0, 0
        # Keras' own initial weights: those of TF-Agents' QNetwork are larger, and few seeds learn with them.
        dense, actions = tf.keras.layers.Dense, self.env.action_spec().maximum + 1
        layers = [dense(args.hidden, "relu"), dense(args.hidden, "relu"), dense(int(actions))]
        self.q_net = sequential.Sequential(layers)
        self.optimizer = ClippingAdam(args.lr, args.max_grad_norm, self.counter)
        self.agent = dqn_agent.DqnAgent(
            self.env.time_step_spec(),
            self.env.action_spec(),
            q_network=self.q_net,
            optimizer=self.optimizer,
            epsilon_greedy=lambda: self.epsilon,
            gamma=args.gamma,
            target_update_period=args.gradient_steps,
            td_errors_loss_fn=common.element_wise_squared_loss,
            summarize_grads_and_vars=bool(args.summaries),
            train_step_counter=self.counter,
        )
        self.agent.initialize()
        self.optimizer.build(self.q_net.trainable_variables)
        self.buffer = tf_uniform_replay_buffer.TFUniformReplayBuffer(
            self.agent.collect_data_spec, batch_size=1, max_length=args.buffer
        )
        policies = {"trained": self.agent.collect_policy}
        policies["random"] = random_tf_policy.RandomTFPolicy(
            self.env.time_step_spec(), self.env.action_spec()
        )
        self.collect = {name: self.driver(policy) for name, policy in policies.items()}
        self.greedy = tf.function(lambda observations: self.q_net(observations)[0], reduce_retracing=True)
        self.loss = float("nan")
        self.curve = []  # step, return, loss of each episode

    def driver(self, policy):
        """Collects a round of steps into the replay buffer, compiled."""
        driver = dynamic_step_driver.DynamicStepDriver(
            self.env, policy, observers=[self.buffer.add_batch], num_steps=self.args.train_every
        )
        return common.function(driver.run)

    def act(self, observation):
        """The greedy action."""
        return int(self.greedy(tf.constant(observation[None], tf.float32)).numpy().argmax())

    def value(self, observation):
        """What the agent expects from here on."""
        return float(self.greedy(tf.constant(observation[None], tf.float32)).numpy().max())

    def learn(self, steps, each_round=lambda agent: None):
        """Train until this many environment steps are done."""
        args = self.args
        while self.step < steps:
            passed = self.step / max(args.epsilon_steps * args.steps, 1)
            self.epsilon.assign(max(args.epsilon_end, 1.0 - passed * (1.0 - args.epsilon_end)))
            self.collect["random" if self.step < args.learning_starts else "trained"]()
            self.step += args.train_every
            if self.step >= args.learning_starts:
                self.optimizer.learning_rate.assign(args.lr * max(1.0 - self.step / args.steps, 0.0))
                self.loss = float(self.round())
                self.updates += args.gradient_steps
            self.curve += [(self.step, total, self.loss) for total in self.py_env.returns]
            self.py_env.returns = []
            each_round(self)

    @tf.function
    def round(self):
        """All gradient steps of a round; the mean loss. TF-Agents renews the target network in between."""
        total = tf.constant(0.0)
        for _ in tf.range(self.args.gradient_steps):
            experience, _ = self.buffer.get_next(sample_batch_size=self.args.batch, num_steps=2)
            total += self.agent.train(experience).loss
        return total / self.args.gradient_steps

    def variables(self):
        """Every variable that the rest of the training depends on."""
        target = self.agent._target_q_network.variables
        return [
            *self.q_net.variables,
            *target,
            *self.optimizer.variables,
            *self.buffer.variables(),
            self.counter,
        ]

    def state(self):
        """Everything but the state of TensorFlow's random numbers, which cannot be read."""
        arrays = {f"variable/{i}": v.numpy() for i, v in enumerate(self.variables())}
        told = {"step": self.step, "updates": self.updates, "loss": self.loss, "curve": self.curve}
        return arrays | {"told": np.array(json.dumps(told))}

    def restore(self, arrays):
        """Go on from ``state``, with a new episode and other random numbers."""
        assign(self.variables(), arrays, "variable/")
        told = json.loads(str(arrays["told"]))
        self.step, self.updates, self.loss = told["step"], told["updates"], told["loss"]
        self.curve = [tuple(row) for row in told["curve"]]

    def weights(self):
        """The weights of the Q-network, as arrays."""
        return {f"q/{i}": v.numpy() for i, v in enumerate(self.q_net.variables)}

    def load(self, arrays):
        """Begin with these weights, the target network too."""
        assign(self.q_net.variables, arrays, "q/")
        assign(self.agent._target_q_network.variables, arrays, "q/")


def assign(variables, arrays, prefix):
    """Write arrays into variables."""
    try:
        for i, variable in enumerate(variables):
            variable.assign(arrays[f"{prefix}{i}"])
    except (KeyError, ValueError):
        sys.exit("dqn_tf_agents: these weights belong to another network: check --hidden and --env")


def read(path):
    """The arrays of a file. No pickle is ever opened."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return dict(file)
    except (OSError, ValueError) as error:
        sys.exit(f"dqn_tf_agents: {path} cannot be read: {error}")


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
    env = make_env(agent.args.env)
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

    def each_round(agent):
        nonlocal saved_at
        progress.show(agent)
        if args.checkpoint and agent.step - saved_at >= args.checkpoint_every:
            write(args.checkpoint, agent.state())
            saved_at = agent.step

    if args.summaries:
        tf.summary.create_file_writer(args.summaries).set_as_default()
    agent.learn(args.steps, each_round)
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
