import copy

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(3)
np.random.seed(3)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Actor(nn.Module):
    def __init__(self, state_dim, action_dim, max_action):
        super().__init__()
        self.l1 = nn.Linear(state_dim, 40)
        self.l2 = nn.Linear(40, action_dim)
        self.max_action = max_action

    def forward(self, state):
        return self.max_action * torch.tanh(self.l2(F.relu(self.l1(state))))


class Critic(nn.Module):
    def __init__(self, state_dim, action_dim):
        super().__init__()
        self.l1 = nn.Linear(state_dim + action_dim, 40)
        self.l2 = nn.Linear(40, 1)

    def forward(self, state, action):
        return self.l2(F.relu(self.l1(torch.cat([state, action], 1))))


class ReplayBuffer(object):
    def __init__(self, state_dim, action_dim, max_size=1000):
        self.max_size, self.ptr, self.size = max_size, 0, 0
        self.state = np.zeros((max_size, state_dim))
        self.action = np.zeros((max_size, action_dim))
        self.next_state = np.zeros((max_size, state_dim))
        self.reward = np.zeros((max_size, 1))

    def add(self, s, a, s2, r):
        self.state[self.ptr], self.action[self.ptr], self.next_state[self.ptr], self.reward[self.ptr] = s, a, s2, r
        self.ptr = (self.ptr + 1) % self.max_size
        self.size = min(self.size + 1, self.max_size)

    def sample(self, n):
        ind = np.random.randint(0, self.size, size=n)
        return tuple(torch.FloatTensor(x[ind]).to(device) for x in (self.state, self.action, self.next_state, self.reward))


class DDPG(object):
    def __init__(self, state_dim, action_dim, max_action):
        self.actor = Actor(state_dim, action_dim, max_action).to(device)
        self.actor_target = copy.deepcopy(self.actor)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic = Critic(state_dim, action_dim).to(device)
        self.critic_target = copy.deepcopy(self.critic)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=1e-3)

    def select_action(self, state):
        state = torch.FloatTensor(state).to(device)
        return self.actor(state).cpu().data.numpy()

    def train(self, replay_buffer, batch_size=32):
        state, action, next_state, reward = replay_buffer.sample(batch_size)
        with torch.no_grad():
            target_Q = reward + 0.98 * self.critic_target(next_state, self.actor_target(next_state))
        critic_loss = F.mse_loss(self.critic(state, action), target_Q)
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()

        pi = torch.FloatTensor(self.select_action(state)).to(device)
        actor_loss = -self.critic(state, pi).mean()
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()
        for net, tgt in ((self.critic, self.critic_target), (self.actor, self.actor_target)):
            for param, target_param in zip(net.parameters(), tgt.parameters()):
                target_param.data.copy_(0.01 * param.data + 0.99 * target_param.data)


policy, replay = DDPG(3, 1, 2.0), ReplayBuffer(3, 1)
state = np.random.randn(3)
for t in range(120):
    action = (policy.select_action(state) + np.random.normal(0, 0.2, size=1)).clip(-2, 2)
    next_state = np.clip(state + 0.1 * action, -3, 3)
    replay.add(state, action, next_state, -np.square(next_state).sum())
    state = next_state if t % 20 else np.random.randn(3)
    if t >= 40:
        policy.train(replay)
print("done", replay.size)
