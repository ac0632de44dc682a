import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tf_agents.agents.dqn import dqn_agent
from tf_agents.networks import network
from tf_agents.specs import tensor_spec
from tf_agents.trajectories import time_step as ts
from tf_agents.trajectories import trajectory
from tf_agents.utils import common

tf.random.set_seed(6)
rng = np.random.default_rng(6)
N_ITEMS, N_ACTIONS = 10, 3
obs_spec = tensor_spec.BoundedTensorSpec((2,), tf.int64, 0, N_ITEMS - 1, "obs")
act_spec = tensor_spec.BoundedTensorSpec((), tf.int64, 0, N_ACTIONS - 1, "act")

embed = tf.keras.layers.Embedding(N_ITEMS, 8)


def item_features(ids):
    return tf.reshape(embed(ids), [-1, 16])


class ItemQNetwork(network.Network):
    def __init__(self, input_tensor_spec, num_actions, name="ItemQNetwork"):
        super().__init__(input_tensor_spec, state_spec=(), name=name)
        self._fc = tf.keras.layers.Dense(24, activation="relu")
        self._q = tf.keras.layers.Dense(num_actions)

    def call(self, observation, step_type=None, network_state=(), training=False):
        h = item_features(observation)
        return self._q(self._fc(h)), network_state


agent = dqn_agent.DqnAgent(
    ts.time_step_spec(obs_spec),
    act_spec,
    q_network=ItemQNetwork(obs_spec, N_ACTIONS),
    optimizer=tf.keras.optimizers.Adam(5e-3),
    td_errors_loss_fn=common.element_wise_squared_loss,
    gamma=0.9,
    target_update_period=5,
)
agent.initialize()
agent.train = common.function(agent.train)

for it in range(15):
    ids = rng.integers(N_ITEMS, size=(24, 2, 2))
    act = rng.integers(N_ACTIONS, size=(24, 2))
    reward = (act == ids.sum(-1) % N_ACTIONS).astype("float32")
    experience = trajectory.Trajectory(
        step_type=tf.ones((24, 2), tf.int32),
        observation=tf.constant(ids),
        action=tf.constant(act),
        policy_info=(),
        next_step_type=tf.ones((24, 2), tf.int32),
        reward=tf.constant(reward),
        discount=tf.ones((24, 2)),
    )
    loss = agent.train(experience).loss
    if it % 5 == 0:
        print("step", agent.train_step_counter.numpy(), "loss", round(float(loss), 4))
