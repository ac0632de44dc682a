import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tf_agents.agents.ddpg import ddpg_agent
from tf_agents.networks import network
from tf_agents.specs import tensor_spec
from tf_agents.trajectories import time_step as ts
from tf_agents.trajectories import trajectory

tf.random.set_seed(4)
np.random.seed(4)
obs_spec = tensor_spec.TensorSpec((3,), tf.float32, "obs")
act_spec = tensor_spec.BoundedTensorSpec((1,), tf.float32, -1.0, 1.0, "act")


class ActorNet(network.Network):
    def __init__(self, observation_spec, action_spec, name="ActorNet"):
        super().__init__(observation_spec, state_spec=(), name=name)
        self._hidden = tf.keras.layers.Dense(16, activation="relu")
        self._out = tf.keras.layers.Dense(action_spec.shape[0], activation="tanh")

    def call(self, observation, step_type=(), network_state=(), training=False):
        return self._out(self._hidden(observation)), network_state


class GridCriticNet(network.Network):
    """The motor takes commands in steps of 0.1."""

    def __init__(self, input_tensor_spec, name="GridCriticNet"):
        super().__init__(input_tensor_spec, state_spec=(), name=name)
        self._hidden = tf.keras.layers.Dense(16, activation="relu")
        self._q = tf.keras.layers.Dense(1)

    def call(self, inputs, step_type=(), network_state=(), training=False):
        observation, action = inputs
        command = tf.round(action * 10.0) / 10.0
        h = self._hidden(tf.concat([observation, command], axis=-1))
        return tf.reshape(self._q(h), [-1]), network_state


actor_net = ActorNet(obs_spec, act_spec)
critic_net = GridCriticNet((obs_spec, act_spec))
agent = ddpg_agent.DdpgAgent(
    ts.time_step_spec(obs_spec),
    act_spec,
    actor_network=actor_net,
    critic_network=critic_net,
    actor_optimizer=tf.keras.optimizers.Adam(1e-3),
    critic_optimizer=tf.keras.optimizers.Adam(2e-3),
    target_update_tau=0.05,
)
agent.initialize()

for it in range(5):
    obs = np.random.randn(16, 2, 3).astype("float32")
    act = np.random.uniform(-1, 1, (16, 2, 1)).astype("float32")
    experience = trajectory.Trajectory(
        step_type=tf.ones((16, 2), tf.int32),
        observation=tf.constant(obs),
        action=tf.constant(act),
        policy_info=(),
        next_step_type=tf.ones((16, 2), tf.int32),
        reward=tf.constant(-np.abs(act[..., 0] - obs[..., 0])),
        discount=tf.ones((16, 2)),
    )
    print("iteration", it, "loss", float(agent.train(experience).loss))
