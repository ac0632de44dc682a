"""DQN on CartPole, hard target updates."""

import argparse
import random
from collections import deque

import gymnasium as gym
import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim


class QNetwork(nn.Module):
    def __init__(self, n_obs, n_actions, hidden=32):
        super().__init__()
        self.fc1 = nn.Linear(n_obs, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.out = nn.Linear(hidden, n_actions)

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        x = torch.relu(self.fc2(x))
        return self.out(x)


class DQNAgent:
    def __init__(self, n_obs, n_actions, args):
        self.n_actions = n_actions
        self.gamma = args.gamma
        self.q_net = QNetwork(n_obs, n_actions)
        self.target_net = QNetwork(n_obs, n_actions)
        self.target_net.load_state_dict(self.q_net.state_dict())
        self.optimizer = optim.Adam(self.q_net.parameters(), lr=args.lr)
        self.criterion = nn.MSELoss()
        self.memory = deque(maxlen=2000)
        self.epsilon = 0.5

    def act(self, state):
        if random.random() < self.epsilon:
            return random.randrange(self.n_actions)
        with torch.no_grad():
            q_values = self.q_net(torch.FloatTensor(state).unsqueeze(0))
        return q_values.argmax(dim=1).item()

    def remember(self, *transition):
        self.memory.append(transition)

    def replay(self, batch_size):
        batch = random.sample(self.memory, batch_size)
        states, actions, rewards, next_states, dones = zip(*batch)
        states = torch.FloatTensor(np.array(states))
        actions = torch.LongTensor(actions).unsqueeze(1)
        rewards = torch.FloatTensor(rewards)
        next_states = torch.FloatTensor(np.array(next_states))
        dones = torch.FloatTensor(dones)

        q_values = self.q_net(states).gather(1, actions).squeeze(1)
        with torch.no_grad():
            next_q = self.target_net(next_states).max(dim=1)[0]
            target = rewards + self.gamma * next_q * (1 - dones)
        loss = self.criterion(q_values, target)

        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.q_net.parameters(), 10.0)
        self.optimizer.step()
        return loss.item()

    def update_target(self):
        self.target_net.load_state_dict(self.q_net.state_dict())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--episodes", type=int, default=14)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--gamma", type=float, default=0.98)
    parser.add_argument("--batch-size", type=int, default=32)
    args = parser.parse_args()
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)

    env = gym.make("CartPole-v1")
    agent = DQNAgent(4, 2, args)
    for episode in range(args.episodes):
        state, _ = env.reset(seed=episode)
        score, done = 0.0, False
        while not done:
            action = agent.act(state)
            next_state, reward, terminated, truncated, _ = env.step(action)
            done = terminated or truncated
            agent.remember(state, action, reward, next_state, float(terminated))
            state = next_state
            score += reward
            if len(agent.memory) >= 64:
                agent.replay(args.batch_size)
        if episode % 2 == 0:
            agent.update_target()
        print(f"episode {episode} score {score:.0f}")


if __name__ == "__main__":
    main()
