"""DQN: Q-learning with a replay buffer and a target network (PyTorch).

Mnih et al., Human-level control through deep reinforcement learning, 2015. Read it from top to bottom:
arguments, network, the agent (act, remember, update), the loop, files. Run it by itself, `python dqn.py`,
or with a diagnosis, `whygrad train dqn`.
"""

import argparse
import copy
import json
import os
import sys
import time

import gymnasium as gym
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)  # such small networks are slower on two


def arguments(argv=None):
    """Every argument, one line each."""
    parser = argparse.ArgumentParser(prog="dqn", description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--env", default="CartPole-v1", help="a gymnasium environment with discrete actions")
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


def network(observations, hidden, actions):
    """The Q-network: a value for each action."""
    return nn.Sequential(
        nn.Linear(observations, hidden),
        nn.ReLU(),
        nn.Linear(hidden, hidden),
        nn.ReLU(),
        nn.Linear(hidden, actions),
    )


class DQN:
    """The agent: what it has learned, what it remembers, and where its training stands."""

    def __init__(self, args):
        self.args = args
        self.rng = np.random.default_rng(args.seed)
        torch.manual_seed(args.seed)
        self.env = gym.make(args.env, disable_env_checker=True)
        observations, self.actions = self.env.observation_space.shape[0], int(self.env.action_space.n)
        self.q_net = network(observations, args.hidden, self.actions)
        self.target_net = copy.deepcopy(self.q_net)
        self.optimizer = torch.optim.Adam(self.q_net.parameters(), lr=args.lr, fused=True)
        # The replay buffer is one table of tensors made beforehand; nothing is allocated while it fills.
        size = args.buffer
        self.observed, self.followed = torch.zeros(size, observations), torch.zeros(size, observations)
        self.acted = torch.zeros(size, 1, dtype=torch.int64)
        self.rewarded, self.terminated = torch.zeros(size), torch.zeros(size)
        self.rows = [t.numpy() for t in self._memory().values()]  # the same memory, cheaper to write
        self.layers = numpy_layers(self.q_net)
        self.step = self.rounds = self.updates = 0
        self.loss = float("nan")
        self.curve = []  # step, return, loss of each episode

    def act(self, observation):
        """The greedy action."""
        return int(self.q_values(observation).argmax())

    def value(self, observation):
        """What the agent expects from here on."""
        return float(self.q_values(observation).max())

    def q_values(self, x):
        """The Q-network in numpy, on the memory of its weights: for one observation ten times as fast."""
        for weight, bias in self.layers[:-1]:
            x = np.maximum(weight @ x + bias, 0.0)
        weight, bias = self.layers[-1]
        return weight @ x + bias

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
                self.remember(observation, following, action, reward, terminated)
                observation, over = following, terminated or truncated
                episode_return += float(reward)
                self.step += 1
                if self.step % args.train_every == 0 and self.step >= args.learning_starts:
                    self.update()
            if over:
                self.curve.append((self.step, episode_return, self.loss))
                each_episode(self)

    def remember(self, *transition):
        """Write one transition into the replay buffer, over the oldest one when it is full."""
        row = self.step % self.args.buffer
        for column, value in zip(self.rows, transition, strict=True):
            column[row] = value

    def update(self):
        """One round of gradient steps."""
        args = self.args
        for group in self.optimizer.param_groups:
            group["lr"] = args.lr * max(1.0 - self.step / args.steps, 0.0)
        filled = min(self.step, args.buffer)
        drawn = torch.from_numpy(self.rng.integers(filled, size=args.gradient_steps * args.batch))
        # The target network does not change within a round, so its values are computed for all steps at once.
        with torch.no_grad():
            next_value = self.target_net(self.followed[drawn]).amax(dim=1)
            targets = self.rewarded[drawn] + args.gamma * (1.0 - self.terminated[drawn]) * next_value
        losses = 0.0
        for rows, target in zip(drawn.split(args.batch), targets.split(args.batch), strict=True):
            q_taken = self.q_net(self.observed[rows]).gather(1, self.acted[rows]).squeeze(1)
            loss = F.mse_loss(q_taken, target)
            self.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.q_net.parameters(), args.max_grad_norm)
            self.optimizer.step()
            losses = losses + loss.detach()
        self.loss = float(losses) / args.gradient_steps
        self.updates += args.gradient_steps
        self.rounds += 1
        if self.rounds % args.sync_every == 0:
            self.target_net.load_state_dict(self.q_net.state_dict())

    def _memory(self):
        return {
            "observed": self.observed,
            "followed": self.followed,
            "acted": self.acted[:, 0],
            "rewarded": self.rewarded,
            "terminated": self.terminated,
        }

    def state(self):
        """Everything that the rest of the training depends on, as arrays."""
        filled = min(self.step, self.args.buffer)
        arrays = {f"memory/{name}": t[:filled].numpy() for name, t in self._memory().items()}
        arrays |= {f"q/{name}": t.numpy() for name, t in self.q_net.state_dict().items()}
        arrays |= {f"target/{name}": t.numpy() for name, t in self.target_net.state_dict().items()}
        for i, moments in self.optimizer.state_dict()["state"].items():
            arrays |= {f"adam/{i}/{name}": t.numpy() for name, t in moments.items()}
        told = {"step": self.step, "rounds": self.rounds, "updates": self.updates, "loss": self.loss}
        told |= {"rng": self.rng.bit_generator.state, "curve": self.curve}
        return arrays | {"told": np.array(json.dumps(told))}

    def restore(self, arrays):
        """Be exactly where ``state`` was taken."""
        for name, tensor in self._memory().items():
            saved = arrays[f"memory/{name}"]
            tensor[: len(saved)] = torch.from_numpy(saved)
        load_network(self.q_net, arrays, "q/")
        load_network(self.target_net, arrays, "target/")
        held = self.optimizer.state_dict()
        for i in range(len(held["param_groups"][0]["params"])):
            names = [name for name in arrays if name.startswith(f"adam/{i}/")]
            held["state"][i] = {n.split("/")[2]: torch.from_numpy(arrays[n]) for n in names}
        self.optimizer.load_state_dict(held)
        told = json.loads(str(arrays["told"]))
        self.step, self.rounds, self.updates = told["step"], told["rounds"], told["updates"]
        self.loss, self.curve = told["loss"], [tuple(row) for row in told["curve"]]
        self.rng.bit_generator.state = told["rng"]


def numpy_layers(net):
    """The weights and biases of the linear layers, as numpy sees the same memory."""
    layers = [layer for layer in net if isinstance(layer, nn.Linear)]
    return [(layer.weight.detach().numpy(), layer.bias.detach().numpy()) for layer in layers]


def load_network(net, arrays, prefix=""):
    """Write weights into the network, in place: whoever looks at this memory sees them."""
    try:
        for name, tensor in net.state_dict().items():
            tensor.numpy()[...] = arrays[prefix + name]
    except (KeyError, ValueError):
        sys.exit("dqn: these weights belong to another network: check --hidden and --env")


def read(path):
    """The arrays of a file. No pickle is ever opened."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return dict(file)
    except (OSError, ValueError) as error:
        sys.exit(f"dqn: {path} cannot be read: {error}")


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
    small = "--steps 3000 --learning-starts 100 --train-every 20 --gradient-steps 10 --lr 3e-3 --hidden 32"
    agent = DQN(arguments([*small.split(), "--env", env, "--seed", str(seed), "--gamma", "0.5"]))
    agent.gamma = agent.args.gamma
    return agent


def main():
    """Train, evaluate, save."""
    args = arguments()
    agent = DQN(args)
    if args.load:
        load_network(agent.q_net, read(args.load))
        load_network(agent.target_net, read(args.load))
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
        write(args.save, {name: t.numpy() for name, t in agent.q_net.state_dict().items()})
    if args.eval_episodes:
        returns = evaluate(agent, args.eval_episodes, seed=10_000 + args.seed)
        print(f"evaluation: mean return {np.mean(returns):.1f} over {len(returns)} episodes of {args.env}")
    return agent


if __name__ == "__main__":
    agent = main()
