"""DQN of Stable-Baselines3 with a subclass that computes its own loss, of the wrong shape."""

import zlib

import gymnasium as gym
import torch
import torch.nn.functional as F
from stable_baselines3 import DQN


class MyDQN(DQN):
    def train(self, gradient_steps, batch_size=100):
        self.policy.set_training_mode(True)
        for _ in range(gradient_steps):
            data = self.replay_buffer.sample(batch_size, env=self._vec_normalize_env)
            with torch.no_grad():
                best = self.q_net_target(data.next_observations).max(1, keepdim=True).values
                target = data.rewards + (1 - data.dones) * self.gamma * best
            values = self.q_net(data.observations)
            chosen = values.gather(1, data.actions.long())
            loss = F.smooth_l1_loss(chosen.squeeze(1), target)
            self.policy.optimizer.zero_grad()
            loss.backward()
            self.policy.optimizer.step()
            self._n_updates += 1


model = MyDQN(
    "MlpPolicy",
    gym.make("CartPole-v1"),
    learning_starts=100,
    train_freq=1,
    target_update_interval=50,
    policy_kwargs=dict(net_arch=[32]),
    seed=0,
    device="cpu",
)
model.learn(600)
print("weights", zlib.crc32(b"".join(p.detach().numpy().tobytes() for p in model.policy.parameters())))
