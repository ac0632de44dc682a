"""TQC of sb3-contrib with an own features extractor."""

import zlib

import gymnasium as gym
import torch
from sb3_contrib import TQC
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn


class Extractor(BaseFeaturesExtractor):
    def __init__(self, observation_space, features_dim=16):
        super().__init__(observation_space, features_dim)
        self.net = nn.Sequential(nn.Linear(observation_space.shape[0], features_dim), nn.ReLU())

    def forward(self, observations):
        with torch.autograd.profiler.record_function("features"):
            return self.net(observations)


model = TQC(
    "MlpPolicy",
    gym.make("Pendulum-v1"),
    learning_starts=100,
    policy_kwargs=dict(net_arch=[32, 32], n_critics=2, features_extractor_class=Extractor),
    seed=0,
    device="cpu",
)
model.learn(300)
print("weights", zlib.crc32(b"".join(p.detach().numpy().tobytes() for p in model.policy.parameters())))
