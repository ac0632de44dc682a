"""REINFORCE: policy gradient from whole episodes, with a learned baseline (PyTorch).

Williams, Simple statistical gradient-following algorithms for connectionist reinforcement learning, 1992.
Read it from top to bottom: arguments, networks, the agent (play, returns, update), files. Run it by itself,
`python reinforce.py`, or with a diagnosis, `whygrad train reinforce`.
"""

import argparse
import json
import os
import sys
import time

import gymnasium as gym
import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)  # such small networks are slower on two


def arguments(argv=None):
    """Every argument, one line each."""
    parser = argparse.ArgumentParser(prog="reinforce", description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--env", default="CartPole-v1", help="a gymnasium environment with discrete actions")
    add("--seed", type=int, default=1, help="the same seed gives the same result")
    add("--steps", type=int, default=300_000, help="environment steps to train for")
    add("--eval-episodes", type=int, default=100, help="greedy episodes after the training; 0 for none")
    add("--save", metavar="FILE.npz", help="write the weights of policy and baseline here at the end")
    add("--load", metavar="FILE.npz", help="begin with these weights")
    add(
        "--checkpoint",
        metavar="FILE.npz",
        help="write everything here now and then; go on from it if it exists",
    )
    add("--checkpoint-every", type=int, default=20_000, help="steps between two checkpoints")
    add("--curve", metavar="FILE.csv", help="write step, return and loss of every episode here")
    add("--episodes", type=int, default=8, help="whole episodes in each update, played side by side")
    add("--hidden", type=int, default=64, help="units in the hidden layer")
    add(
        "--lr",
        type=float,
        default=5e-3,
        help="Adam's step size for the policy; falls to zero over the training",
    )
    add("--baseline-lr", type=float, default=5e-3, help="Adam's step size for the baseline")
    add("--baseline-steps", type=int, default=4, help="gradient steps of the baseline in each update")
    add("--gamma", type=float, default=0.99, help="discount of later rewards")
    add(
        "--max-grad-norm",
        type=float,
        default=1.0,
        help="longer policy gradients are scaled down to this norm",
    )
    return parser.parse_args(argv)


def network(inputs, hidden, outputs):
    """One hidden layer."""
    return nn.Sequential(nn.Linear(inputs, hidden), nn.Tanh(), nn.Linear(hidden, outputs))


class Reinforce:
    """The agent: policy, baseline, and where its training stands."""

    def __init__(self, args):
        self.args = args
        self.rng = np.random.default_rng(args.seed)
        torch.manual_seed(args.seed)
        self.envs = gym.make_vec(args.env, args.episodes)
        observations = self.envs.single_observation_space.shape[0]
        self.policy = network(observations, args.hidden, int(self.envs.single_action_space.n))
        self.baseline = network(observations, args.hidden, 1)
        self.policy_optimizer = torch.optim.Adam(self.policy.parameters(), lr=args.lr, fused=True)
        self.baseline_optimizer = torch.optim.Adam(
            self.baseline.parameters(), lr=args.baseline_lr, fused=True
        )
        self.layers = {"policy": numpy_layers(self.policy), "baseline": numpy_layers(self.baseline)}
        self.step = self.updates = 0
        self.loss = float("nan")
        self.curve = []  # step, return, loss of each episode

    def act(self, observation):
        """The likeliest action."""
        return int(self.forward("policy", observation).argmax())

    def value(self, observation):
        """What the agent expects from here on."""
        return float(self.forward("baseline", observation)[0])

    def forward(self, name, x):
        """A network in numpy, on the memory of its weights: for few observations ten times as fast."""
        (w1, b1), (w2, b2) = self.layers[name]
        return np.tanh(x @ w1.T + b1) @ w2.T + b2

    def choices(self, observations):
        """The policy: a distribution over actions."""
        return torch.distributions.Categorical(logits=self.policy(observations), validate_args=False)

    def learn(self, steps, each_round=lambda agent: None):
        """Train until this many environment steps are done."""
        while self.step < steps:
            self.update(*self.play())
            each_round(self)

    def play(self):
        """One whole episode in each copy of the environment; observations, actions and returns of all."""
        # A seed for every round: what comes depends on the generators alone, which checkpoints keep.
        observation, _ = self.envs.reset(seed=int(self.rng.integers(2**31)))
        running = np.ones(self.args.episodes, dtype=bool)
        observed, acted, rewarded, was_running = [], [], [], []
        while running.any():
            actions = self.choices(torch.from_numpy(observation)).sample().numpy()  # a sample has no gradient
            following, rewards, terminated, truncated, _ = self.envs.step(actions)
            observed.append(observation)
            acted.append(actions)
            rewarded.append(np.where(running, rewards, 0.0))
            was_running.append(running)
            running = running & ~(terminated | truncated)
            observation = following
        real = np.stack(was_running)  # copies that are done wait for the others: those steps do not count
        rewards = np.stack(rewarded)
        self.step += int(real.sum())
        self.curve += [(self.step, float(total), self.loss) for total in rewards.sum(axis=0)]
        returns = discounted(rewards, self.args.gamma)
        columns = (np.stack(observed)[real], np.stack(acted)[real], returns[real].astype(np.float32))
        return [torch.from_numpy(column) for column in columns]

    def update(self, observed, acted, returns):
        """One step of the policy, a few of the baseline."""
        args = self.args
        self.policy_optimizer.param_groups[0]["lr"] = args.lr * max(1.0 - self.step / args.steps, 0.0)
        with torch.no_grad():
            advantage = returns - self.baseline(observed).squeeze(1)
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        log_probs = self.choices(observed).log_prob(acted)
        # Sampling has no gradient. The surrogate has: its gradient is that of the expected return.
        loss = -(log_probs * advantage).mean()
        self.policy_optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.policy.parameters(), args.max_grad_norm)
        self.policy_optimizer.step()
        for _ in range(args.baseline_steps):
            baseline_loss = (self.baseline(observed).squeeze(1) - returns).square().mean()
            self.baseline_optimizer.zero_grad()
            baseline_loss.backward()
            self.baseline_optimizer.step()
        self.loss = float(loss.detach())
        self.updates += 1 + args.baseline_steps

    def state(self):
        """Everything that the rest of the training depends on, as arrays."""
        arrays = self.weights()
        optimizers = {"policy": self.policy_optimizer, "baseline": self.baseline_optimizer}
        for owner, optimizer in optimizers.items():
            for i, moments in optimizer.state_dict()["state"].items():
                arrays |= {f"adam/{owner}/{i}/{name}": t.numpy() for name, t in moments.items()}
        told = {"step": self.step, "updates": self.updates, "loss": self.loss}
        told |= {"rng": self.rng.bit_generator.state, "curve": self.curve}
        return arrays | {"told": np.array(json.dumps(told)), "torch_rng": torch.get_rng_state().numpy()}

    def restore(self, arrays):
        """Be exactly where ``state`` was taken."""
        self.load(arrays)
        optimizers = {"policy": self.policy_optimizer, "baseline": self.baseline_optimizer}
        for owner, optimizer in optimizers.items():
            held = optimizer.state_dict()
            for i in range(len(held["param_groups"][0]["params"])):
                names = [name for name in arrays if name.startswith(f"adam/{owner}/{i}/")]
                held["state"][i] = {n.split("/")[3]: torch.from_numpy(arrays[n]) for n in names}
            optimizer.load_state_dict(held)
        told = json.loads(str(arrays["told"]))
        self.step, self.updates, self.loss = told["step"], told["updates"], told["loss"]
        self.curve = [tuple(row) for row in told["curve"]]
        self.rng.bit_generator.state = told["rng"]
        torch.set_rng_state(torch.from_numpy(arrays["torch_rng"]))

    def weights(self):
        """The weights of both networks, as arrays."""
        nets = {"policy": self.policy, "baseline": self.baseline}
        return {f"{n}/{name}": t.numpy() for n, net in nets.items() for name, t in net.state_dict().items()}

    def load(self, arrays):
        """Begin with these weights."""
        load_network(self.policy, arrays, "policy/")
        load_network(self.baseline, arrays, "baseline/")


def discounted(rewards, gamma):
    """What follows each step, discounted; one column for each episode."""
    returns, later = np.zeros_like(rewards), np.zeros(rewards.shape[1])
    for t in reversed(range(len(rewards))):
        returns[t] = later = rewards[t] + gamma * later
    return returns


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
        sys.exit("reinforce: these weights belong to another network: check --hidden and --env")


def read(path):
    """The arrays of a file. No pickle is ever opened."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return dict(file)
    except (OSError, ValueError) as error:
        sys.exit(f"reinforce: {path} cannot be read: {error}")


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
    small = "--steps 3000 --episodes 8 --lr 1e-2 --baseline-lr 1e-2 --hidden 32"
    agent = Reinforce(arguments([*small.split(), "--env", env, "--seed", str(seed), "--gamma", "0.5"]))
    agent.gamma = agent.args.gamma
    return agent


def main():
    """Train, evaluate, save."""
    args = arguments()
    agent = Reinforce(args)
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
