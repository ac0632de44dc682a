"""DDPG with batch normalisation in the actor, on Pendulum."""

import argparse
import copy
import random
from collections import namedtuple

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

Transition = namedtuple("Transition", "state action reward next_state done")


class Actor(nn.Module):
    def __init__(self, state_dim, action_dim, max_action):
        super().__init__()
        self.l1 = nn.Linear(state_dim, 32)
        self.bn1 = nn.BatchNorm1d(32)
        self.l2 = nn.Linear(32, 32)
        self.l3 = nn.Linear(32, action_dim)
        self.max_action = max_action

    def forward(self, state):
        x = F.relu(self.bn1(self.l1(state)))
        x = F.relu(self.l2(x))
        x = torch.tanh(self.l3(x))
        return self.max_action * x


class Critic(nn.Module):
    def __init__(self, state_dim, action_dim):
        super().__init__()
        self.l1 = nn.Linear(state_dim + action_dim, 32)
        self.l2 = nn.Linear(32, 32)
        self.l3 = nn.Linear(32, 1)

    def forward(self, state, action):
        x = F.relu(self.l1(torch.cat([state, action], 1)))
        x = F.relu(self.l2(x))
        return self.l3(x)


class DDPG:
    def __init__(self, state_dim, action_dim, max_action, args):
        self.actor = Actor(state_dim, action_dim, max_action)
        self.actor_target = copy.deepcopy(self.actor)
        self.actor_target.eval()
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=args.lr_actor)
        self.critic = Critic(state_dim, action_dim)
        self.critic_target = copy.deepcopy(self.critic)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=args.lr_critic)
        self.gamma, self.tau = args.gamma, args.tau

    def select_action(self, state):
        self.actor.eval()
        with torch.no_grad():
            action = self.actor(torch.FloatTensor(state.reshape(1, -1))).numpy().flatten()
        self.actor.train()
        return action

    def train(self, batch):
        state = torch.FloatTensor(np.array(batch.state))
        action = torch.FloatTensor(np.array(batch.action))
        reward = torch.FloatTensor(batch.reward).reshape(-1, 1)
        next_state = torch.FloatTensor(np.array(batch.next_state))
        done = torch.FloatTensor(batch.done).reshape(-1, 1)

        # critic
        target_q = self.critic_target(next_state, self.actor_target(next_state))
        target_q = reward + ((1 - done) * self.gamma * target_q).detach()
        current_q = self.critic(state, action)
        critic_loss = F.mse_loss(current_q, target_q)
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()

        # actor
        pi = self.actor(state)
        actor_loss = -self.critic(state, pi).mean()
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()

        for param, target_param in zip(self.critic.parameters(), self.critic_target.parameters()):
            target_param.data.copy_(self.tau * param.data + (1 - self.tau) * target_param.data)
        for param, target_param in zip(self.actor.parameters(), self.actor_target.parameters()):
            target_param.data.copy_(self.tau * param.data + (1 - self.tau) * target_param.data)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=260)
    parser.add_argument("--lr-actor", type=float, default=1e-3)
    parser.add_argument("--lr-critic", type=float, default=2e-3)
    parser.add_argument("--gamma", type=float, default=0.98)
    parser.add_argument("--tau", type=float, default=0.01)
    args = parser.parse_args()
    random.seed(2)
    np.random.seed(2)
    torch.manual_seed(2)
    env = gym.make("Pendulum-v1", max_episode_steps=50)
    agent = DDPG(3, 1, 2.0, args)
    memory = []
    state, _ = env.reset(seed=2)
    for step in range(args.steps):
        action = agent.select_action(state)
        action = np.clip(action + np.random.normal(0, 0.3, size=1), -2, 2)
        next_state, reward, terminated, truncated, _ = env.step(action)
        bumped = abs(next_state[2]) > 6.0
        memory.append(Transition(state, action, reward / 8, next_state, float(terminated or bumped)))
        state = next_state
        if truncated or bumped:
            state, _ = env.reset()
        if len(memory) > 64:
            agent.train(Transition(*zip(*random.sample(memory, 64))))
    print("done", step + 1)


if __name__ == "__main__":
    main()
