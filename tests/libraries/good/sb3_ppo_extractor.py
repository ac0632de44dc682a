"""PPO of Stable-Baselines3 with an own features extractor, as its docs show it."""

import zlib

import gymnasium as gym
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn


class Extractor(BaseFeaturesExtractor):
    def __init__(self, observation_space, features_dim=32):
        super().__init__(observation_space, features_dim)
        self.net = nn.Sequential(nn.Linear(observation_space.shape[0], features_dim), nn.Tanh())

    def forward(self, observations):
        latent = self.net(observations)
        return latent


model = PPO(
    "MlpPolicy",
    gym.make("CartPole-v1"),
    n_steps=256,
    batch_size=64,
    n_epochs=4,
    seed=0,
    device="cpu",
    policy_kwargs=dict(features_extractor_class=Extractor, net_arch=[32]),
)
model.learn(1024)
print("weights", zlib.crc32(b"".join(p.detach().numpy().tobytes() for p in model.policy.parameters())))
