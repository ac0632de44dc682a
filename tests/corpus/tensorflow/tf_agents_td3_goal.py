import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from tf_agents.agents.td3 import td3_agent
from tf_agents.networks import network
from tf_agents.specs import tensor_spec
from tf_agents.trajectories import time_step as ts
from tf_agents.trajectories import trajectory
from tf_agents.utils import common

tf.random.set_seed(44)
rng = np.random.default_rng(44)
obs_spec = tensor_spec.TensorSpec((6,), tf.float32, "obs")
act_spec = tensor_spec.BoundedTensorSpec((2,), tf.float32, -1.0, 1.0, "act")
dense = tf.keras.layers.Dense


class GoalEncoder(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.a, self.b = dense(16, "relu"), dense(8, "tanh")

    def call(self, x):
        return self.b(self.a(x))


class GoalActor(network.Network):
    def __init__(self, input_spec, action_spec, name="GoalActor"):
        super().__init__(input_spec, state_spec=(), name=name)
        self._spec = action_spec
        self._encoder, self._hidden, self._out = GoalEncoder(), dense(16, "relu"), dense(2, "tanh")

    def call(self, observation, step_type=(), network_state=(), training=False):
        z = self._encoder(observation)
        return self._out(self._hidden(z)), network_state


class GoalCritic(network.Network):
    def __init__(self, input_spec, name="GoalCritic"):
        super().__init__(input_spec, state_spec=(), name=name)
        self._encoder, self._hidden, self._out = GoalEncoder(), dense(16, "relu"), dense(1)

    def call(self, inputs, step_type=(), network_state=(), training=False):
        obs, act = inputs
        z = tf.stop_gradient(self._encoder(obs))
        q = self._out(self._hidden(tf.concat([z, act], -1)))
        return tf.reshape(q, [-1]), network_state


agent = td3_agent.Td3Agent(
    ts.time_step_spec(obs_spec), act_spec,
    actor_network=GoalActor(obs_spec, act_spec),
    critic_network=GoalCritic((obs_spec, act_spec)),
    actor_optimizer=tf.keras.optimizers.Adam(2e-3),
    critic_optimizer=tf.keras.optimizers.Adam(2e-3),
    target_update_tau=0.1,
    gamma=0.9,
)
agent.initialize()
train = common.function(agent.train)

for it in range(16):
    obs = rng.normal(size=(32, 2, 6)).astype("float32")
    act = rng.uniform(-1, 1, size=(32, 2, 2)).astype("float32")
    reward = -np.square(act - np.tanh(obs[..., :2])).sum(-1).astype("float32")
    steps = tf.ones((32, 2), tf.int32)
    info = train(trajectory.Trajectory(
        step_type=steps, observation=tf.constant(obs), action=tf.constant(act), policy_info=(),
        next_step_type=steps, reward=tf.constant(reward), discount=tf.ones((32, 2))))
    if it % 5 == 0:
        print("step", it, "critic", float(info.extra.critic_loss), "actor", float(info.extra.actor_loss))
