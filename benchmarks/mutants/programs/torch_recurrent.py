"""A recurrent actor-critic (GRU) on a task of memory: answer what was shown at the beginning."""

import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class Recall:
    """A cue is shown once; the agent is paid for repeating it afterwards."""

    def __init__(self, batch, length, seed):
        self.batch, self.length, self.rng = batch, length, np.random.RandomState(seed)

    def reset(self):
        self.cue = self.rng.randint(0, 2, self.batch)
        self.t = 0
        return self.observe()

    def observe(self):
        obs = np.zeros((self.batch, 3), np.float32)
        obs[:, 2] = self.t / self.length
        if self.t == 0:
            obs[np.arange(self.batch), self.cue] = 1.0
        return obs

    def step(self, actions):
        reward = np.where(actions == self.cue, 1.0, -1.0).astype(np.float32)
        self.t += 1
        return self.observe(), reward, self.t >= self.length


class RecurrentAgent(nn.Module):
    def __init__(self, n_obs, n_actions, n_hidden):
        super().__init__()
        self.encoder = nn.Linear(n_obs, n_hidden)
        self.gru = nn.GRUCell(n_hidden, n_hidden)
        self.heads = nn.ModuleList([nn.Linear(n_hidden, n_actions), nn.Linear(n_hidden, 1)])

    def forward(self, obs, hidden):
        x = torch.relu(self.encoder(obs))
        hidden = self.gru(x, hidden)
        return self.heads[0](hidden), self.heads[1](hidden).squeeze(-1), hidden


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.env = Recall(cfg.batch, 8, cfg.seed)
        self.net = RecurrentAgent(3, 2, 24)
        self.opt = torch.optim.RMSprop(self.net.parameters(), lr=cfg.lr)
        self.hidden = torch.zeros(cfg.batch, 24)

    def run(self):
        obs, over = self.env.reset(), False
        for update in range(self.cfg.updates):
            self.hidden = self.hidden.detach()
            logps, values, rewards, entropies = [], [], [], []
            for _ in range(self.cfg.unroll):
                logits, value, self.hidden = self.net(torch.from_numpy(obs), self.hidden)
                dist = torch.distributions.Categorical(logits=logits)
                action = dist.sample()
                obs, reward, over = self.env.step(action.numpy())
                logps.append(dist.log_prob(action))
                entropies.append(dist.entropy())
                values.append(value)
                rewards.append(torch.from_numpy(reward))
                if over:
                    obs = self.env.reset()
                    self.hidden = torch.zeros_like(self.hidden)
            self.learn(torch.stack(logps), torch.stack(values), torch.stack(rewards), torch.stack(entropies))

    def learn(self, logps, values, rewards, entropies):
        returns = torch.flip(torch.cumsum(torch.flip(rewards, [0]), 0), [0])
        advantages = (returns - values).detach()
        pg_loss = -(logps * advantages).mean()
        v_loss = F.mse_loss(values, returns)
        total_loss = pg_loss + 0.5 * v_loss - self.cfg.entropy * entropies.mean()
        self.opt.zero_grad()
        total_loss.backward()
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        self.opt.step()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--updates", type=int, default=60)
    parser.add_argument("--unroll", type=int, default=4)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--entropy", type=float, default=0.01)
    parser.add_argument("--seed", type=int, default=8)
    cfg = parser.parse_args()
    torch.manual_seed(cfg.seed)
    Trainer(cfg).run()
    print("finished")
