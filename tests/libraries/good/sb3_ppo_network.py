"""PPO of Stable-Baselines3 with a network of one's own, as its docs show it."""

import zlib

import gymnasium as gym
from stable_baselines3 import PPO
from stable_baselines3.common.policies import ActorCriticPolicy
from torch import nn


class Network(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.latent_dim_pi = 32
        self.latent_dim_vf = 32
        self.policy_layers = nn.ModuleList([nn.Linear(features, 32), nn.ReLU()])
        self.value_layers = nn.ModuleList([nn.Linear(features, 32), nn.ReLU()])

    def forward(self, features):
        return self.forward_actor(features), self.forward_critic(features)

    def forward_actor(self, x):
        for layer in self.policy_layers:
            x = layer(x)
        return x

    def forward_critic(self, x):
        for layer in self.value_layers:
            x = layer(x)
        return x


class Policy(ActorCriticPolicy):
    def _build_mlp_extractor(self):
        self.mlp_extractor = Network(self.features_dim)


model = PPO(Policy, gym.make("CartPole-v1"), n_steps=256, batch_size=64, n_epochs=4, seed=0, device="cpu")
model.learn(1024)
print("weights", zlib.crc32(b"".join(p.detach().numpy().tobytes() for p in model.policy.parameters())))
