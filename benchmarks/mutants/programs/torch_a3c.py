"""A3C in one process: local networks play and differentiate, the shared network is stepped with their gradients."""

import argparse

import gymnasium as gym
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self, s_dim, a_dim):
        super().__init__()
        self.pi1 = nn.Linear(s_dim, 32)
        self.pi2 = nn.Linear(32, a_dim)
        self.v1 = nn.Linear(s_dim, 32)
        self.v2 = nn.Linear(32, 1)

    def forward(self, x):
        pi = torch.tanh(self.pi1(x))
        v = torch.tanh(self.v1(x))
        return self.pi2(pi), self.v2(v).squeeze(-1)


class Worker:
    def __init__(self, shared, opt, rank, args):
        self.shared, self.opt, self.args = shared, opt, args
        self.lnet = Net(4, 2)
        self.env = gym.make("CartPole-v1")
        self.state, _ = self.env.reset(seed=rank)

    def play(self):
        states, actions, rewards = [], [], []
        for _ in range(self.args.t_max):
            logits, _ = self.lnet(torch.as_tensor(self.state))
            action = torch.distributions.Categorical(logits=logits).sample().item()
            next_state, reward, terminated, truncated, _ = self.env.step(action)
            states.append(torch.as_tensor(self.state))
            actions.append(action)
            rewards.append(-1.0 if terminated else reward)
            self.state = next_state
            if terminated or truncated:
                self.state, _ = self.env.reset()
                return torch.stack(states), torch.tensor(actions), rewards, 0.0
        with torch.no_grad():
            _, last_value = self.lnet(torch.as_tensor(self.state))
        return torch.stack(states), torch.tensor(actions), rewards, last_value.item()

    def train(self):
        self.lnet.load_state_dict(self.shared.state_dict())
        states, actions, rewards, R = self.play()
        targets = []
        for r in rewards[::-1]:
            R = r + self.args.gamma * R
            targets.insert(0, R)
        targets = torch.tensor(targets, dtype=torch.float32)
        logits, values = self.lnet(states)
        dist = torch.distributions.Categorical(logits=logits)
        td = targets - values
        c_loss = td.pow(2)
        log_prob = dist.log_prob(actions)
        a_loss = -log_prob * td.detach() - 0.005 * dist.entropy()
        loss = (c_loss + a_loss).mean()
        self.lnet.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.lnet.parameters(), 5.0)
        for lp, gp in zip(self.lnet.parameters(), self.shared.parameters()):
            gp._grad = lp.grad
        self.opt.step()
        return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--t-max", type=int, default=8)
    parser.add_argument("--gamma", type=float, default=0.95)
    args = parser.parse_args()
    torch.manual_seed(9)
    gnet = Net(4, 2)
    opt = torch.optim.Adam(gnet.parameters(), lr=2e-3)
    workers = [Worker(gnet, opt, rank, args) for rank in range(args.workers)]
    for _ in range(args.rounds):
        losses = [worker.train() for worker in workers]
    print("loss", round(sum(losses) / len(losses), 2))


if __name__ == "__main__":
    main()
