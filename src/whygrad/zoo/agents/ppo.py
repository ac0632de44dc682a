"""PPO: clipped policy gradient with a value baseline, on vectorised environments (PyTorch).

Schulman et al., Proximal policy optimization algorithms, 2017. Read it from top to bottom: arguments,
networks, the agent (collect, advantages, update), files. Run it by itself, `python ppo.py`, or with a
diagnosis, `whygrad train ppo`.
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
    parser = argparse.ArgumentParser(prog="ppo", description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--env", default="CartPole-v1", help="a gymnasium environment with discrete actions")
    add("--seed", type=int, default=1, help="the same seed gives the same result")
    add("--steps", type=int, default=100_000, help="environment steps to train for")
    add("--eval-episodes", type=int, default=100, help="greedy episodes after the training; 0 for none")
    add("--save", metavar="FILE.npz", help="write the weights of policy and value network here at the end")
    add("--load", metavar="FILE.npz", help="begin with these weights")
    add(
        "--checkpoint",
        metavar="FILE.npz",
        help="write everything here now and then; go on from it if it exists",
    )
    add("--checkpoint-every", type=int, default=20_000, help="steps between two checkpoints")
    add("--curve", metavar="FILE.csv", help="write step, return and loss of every episode here")
    add("--envs", type=int, default=8, help="copies of the environment that are stepped together")
    add("--rollout", type=int, default=32, help="steps of each copy between two rounds of updates")
    add("--hidden", type=int, default=64, help="units in each of the two hidden layers")
    add("--lr", type=float, default=1e-3, help="Adam's step size; falls to zero over the training")
    add("--gamma", type=float, default=0.98, help="discount of the next step's value")
    add("--gae-lambda", type=float, default=0.8, help="0: one-step advantages, 1: whole returns")
    add("--epochs", type=int, default=20, help="passes over each rollout")
    add("--batch", type=int, default=256, help="transitions in each gradient step")
    add("--clip", type=float, default=0.2, help="how far the ratio may move; falls to zero over the training")
    add("--value-share", type=float, default=0.5, help="weight of the value loss")
    add("--entropy-share", type=float, default=0.0, help="weight of the entropy bonus")
    add("--max-grad-norm", type=float, default=0.5, help="longer gradients are scaled down to this norm")
    return parser.parse_args(argv)


def network(inputs, hidden, outputs, last_gain):
    """Two hidden layers; the gain of the last one says how bold the first answers are."""
    layers = [
        nn.Linear(inputs, hidden),
        nn.Tanh(),
        nn.Linear(hidden, hidden),
        nn.Tanh(),
        nn.Linear(hidden, outputs),
    ]
    for layer in layers[::2]:
        nn.init.orthogonal_(layer.weight, last_gain if layer is layers[-1] else 2**0.5)
        nn.init.zeros_(layer.bias)
    return nn.Sequential(*layers)


class PPO:
    """The agent: policy, value network, and where its training stands."""

    def __init__(self, args):
        self.args = args
        self.rng = np.random.default_rng(args.seed)
        torch.manual_seed(args.seed)
        # gymnasium's own vectorised form of the environment, if it has one; copies side by side if not.
        self.envs = gym.make_vec(args.env, args.envs)
        observations = self.envs.single_observation_space.shape[0]
        actions = int(self.envs.single_action_space.n)
        self.policy = network(observations, args.hidden, actions, last_gain=0.01)
        self.value_net = network(observations, args.hidden, 1, last_gain=1.0)
        self.parameters = [*self.policy.parameters(), *self.value_net.parameters()]
        self.optimizer = torch.optim.Adam(self.parameters, lr=args.lr, eps=1e-5, fused=True)
        # One table for a rollout, made beforehand. The last row only holds what was observed at the end.
        shape = (args.rollout + 1, args.envs)
        self.observed = torch.zeros(*shape, observations)
        self.acted = torch.zeros(shape, dtype=torch.int64)
        self.rewarded, self.terminated, self.over = (torch.zeros(shape) for _ in range(3))
        self.begins = np.ones(args.envs, dtype=bool)  # the step about to be taken only resets this copy
        self.returns = np.zeros(args.envs)
        self.layers = {"policy": numpy_layers(self.policy), "value": numpy_layers(self.value_net)}
        self.step = self.updates = 0
        self.loss = float("nan")
        self.curve = []  # step, return, loss of each episode
        self.fresh = True  # the environments are to be reset before the next rollout

    def act(self, observation):
        """The likeliest action."""
        return int(self.forward("policy", observation).argmax())

    def value(self, observation):
        """What the agent expects from here on."""
        return float(self.forward("value", observation)[0])

    def forward(self, name, x):
        """A network in numpy, on the memory of its weights: for few observations ten times as fast."""
        *hidden, (weight, bias) = self.layers[name]
        for w, b in hidden:
            x = np.tanh(x @ w.T + b)
        return x @ weight.T + bias

    def learn(self, steps, each_round=lambda agent: None):
        """Train until this many environment steps are done."""
        while self.step < steps:
            rows = self.collect()
            self.update(rows)
            each_round(self)

    def collect(self):
        """Play one rollout; the result says which rows are real steps and not resets."""
        observed, acted, rewarded, terminated, over = (
            t.numpy() for t in (self.observed, self.acted, self.rewarded, self.terminated, self.over)
        )
        if self.fresh:
            observed[-1], _ = self.envs.reset(seed=int(self.rng.integers(2**31)))
            self.begins[:], self.returns[:], self.fresh = False, 0.0, False
        observed[0] = observed[-1]
        real = np.empty((self.args.rollout, self.args.envs), dtype=bool)
        for t in range(self.args.rollout):
            logits = self.forward("policy", observed[t])
            # The largest of logits plus Gumbel noise is a sample of the policy.
            actions = (logits + self.rng.gumbel(size=logits.shape)).argmax(axis=1)
            following, rewards, ends, cuts, _ = self.envs.step(actions)
            acted[t], rewarded[t], terminated[t], over[t] = actions, rewards, ends, ends | cuts
            observed[t + 1] = following
            real[t] = ~self.begins
            self.step += self.args.envs
            self._count_returns(rewards, ends | cuts)
            self.begins = ends | cuts
        return torch.from_numpy(real.reshape(-1))

    def _count_returns(self, rewards, over):
        self.returns += rewards
        for i in np.flatnonzero(over):
            self.curve.append((self.step, float(self.returns[i]), self.loss))
            self.returns[i] = 0.0

    def advantages(self):
        """Generalised advantage estimates, and the returns that the value network shall learn."""
        gamma, decay = self.args.gamma, self.args.gamma * self.args.gae_lambda
        values = self.value_net(self.observed).squeeze(-1)
        # After a time limit the next row still holds the last observation, so its value counts.
        surprises = self.rewarded[:-1] + gamma * (1.0 - self.terminated[:-1]) * values[1:] - values[:-1]
        goes_on = 1.0 - self.over
        found = torch.zeros_like(surprises)
        later = torch.zeros(self.args.envs)
        for t in reversed(range(self.args.rollout)):
            later = surprises[t] + decay * goes_on[t] * later
            found[t] = later
        return found.flatten(), (found + values[:-1]).flatten()

    def update(self, real):
        """Several passes over the rollout."""
        args = self.args
        left = max(1.0 - self.step / args.steps, 0.0)
        for group in self.optimizer.param_groups:
            group["lr"] = args.lr * left
        clip = args.clip * left
        observed, acted = self.observed[:-1].flatten(0, 1)[real], self.acted[:-1].flatten()[real]
        with torch.no_grad():
            advantages, returns = (t[real] for t in self.advantages())
            old_log_probs = log_prob(self.policy(observed), acted)
        losses, count = 0.0, 0
        for _ in range(args.epochs):
            for rows in torch.from_numpy(self.rng.permutation(len(acted))).split(args.batch):
                logits = self.policy(observed[rows])
                ratio = (log_prob(logits, acted[rows]) - old_log_probs[rows]).exp()
                advantage = advantages[rows]
                advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
                policy_loss = -torch.min(
                    ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage
                ).mean()
                value_loss = (self.value_net(observed[rows]).squeeze(1) - returns[rows]).square().mean()
                loss = policy_loss + args.value_share * value_loss - args.entropy_share * entropy(logits)
                self.optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.parameters, args.max_grad_norm)
                self.optimizer.step()
                losses, count = losses + loss.detach(), count + 1
        self.loss = float(losses) / count
        self.updates += count

    def state(self):
        """Everything that the rest of the training depends on. The episodes that run now are given up."""
        arrays = self.weights()
        for i, moments in self.optimizer.state_dict()["state"].items():
            arrays |= {f"adam/{i}/{name}": t.numpy() for name, t in moments.items()}
        told = {"step": self.step, "updates": self.updates, "loss": self.loss}
        told |= {"rng": self.rng.bit_generator.state, "curve": self.curve}
        self.fresh = True  # as after `restore`: with or without a kill it goes on in the same way
        return arrays | {"told": np.array(json.dumps(told))}

    def restore(self, arrays):
        """Be exactly where ``state`` was taken."""
        self.load(arrays)
        held = self.optimizer.state_dict()
        for i in range(len(self.parameters)):
            names = [name for name in arrays if name.startswith(f"adam/{i}/")]
            held["state"][i] = {n.split("/")[2]: torch.from_numpy(arrays[n]) for n in names}
        self.optimizer.load_state_dict(held)
        told = json.loads(str(arrays["told"]))
        self.step, self.updates, self.loss = told["step"], told["updates"], told["loss"]
        self.curve = [tuple(row) for row in told["curve"]]
        self.rng.bit_generator.state = told["rng"]

    def weights(self):
        """The weights of both networks, as arrays."""
        nets = {"policy": self.policy, "value": self.value_net}
        return {f"{n}/{name}": t.numpy() for n, net in nets.items() for name, t in net.state_dict().items()}

    def load(self, arrays):
        """Begin with these weights."""
        load_network(self.policy, arrays, "policy/")
        load_network(self.value_net, arrays, "value/")


def log_prob(logits, actions):
    """The log-probabilities of these actions."""
    return logits.log_softmax(dim=1).gather(1, actions.unsqueeze(1)).squeeze(1)


def entropy(logits):
    """How undecided the policy is, on average."""
    log_probs = logits.log_softmax(dim=1)
    return -(log_probs.exp() * log_probs).sum(dim=1).mean()


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
        sys.exit("ppo: these weights belong to another network: check --hidden and --env")


def read(path):
    """The arrays of a file. No pickle is ever opened."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return dict(file)
    except (OSError, ValueError) as error:
        sys.exit(f"ppo: {path} cannot be read: {error}")


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
    small = "--steps 3000 --envs 4 --rollout 16 --batch 64 --epochs 10 --lr 5e-3 --hidden 32"
    agent = PPO(arguments([*small.split(), "--env", env, "--seed", str(seed), "--gamma", "0.5"]))
    agent.gamma = agent.args.gamma
    return agent


def main():
    """Train, evaluate, save."""
    args = arguments()
    agent = PPO(args)
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
