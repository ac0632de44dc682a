"""Seed 003, example 1, as written."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # without it TF-Agents fails even earlier
import tensorflow as tf
from tf_agents.agents.dqn import dqn_agent
from tf_agents.networks import q_network
from tf_agents.environments import tf_py_environment
from tf_agents.specs import array_spec
from tf_agents.utils import common
import numpy as np


# Dummy Environment
class DummyEnv(tf_py_environment.TFPyEnvironment):
    def __init__(self):
        super().__init__()
        self._action_spec = array_spec.BoundedArraySpec(shape=(), dtype=np.int32, minimum=0, maximum=2, name="action")
        self._observation_spec = array_spec.ArraySpec(shape=(4,), dtype=np.float32, name="observation")
        self._current_time_step = self.reset()

    def _step(self, action):
        reward = tf.constant(np.random.rand() * 0.5, dtype=tf.float32)
        new_obs = tf.random.normal(shape=(4,))
        is_last = tf.constant(False, dtype=tf.bool)
        if np.random.rand() > 0.95:
            is_last = tf.constant(True, dtype=tf.bool)
        self._current_time_step = tf_agents.trajectories.time_step.TimeStep(step_type=tf.constant(int(is_last) * 2, dtype=tf.int32), reward=reward, discount=tf.constant(1.0 - int(is_last) * 0.1, dtype=tf.float32), observation=new_obs)
        return self._current_time_step

    def _reset(self):
        new_obs = tf.random.normal(shape=(4,))
        self._current_time_step = tf_agents.trajectories.time_step.TimeStep(step_type=tf.constant(0, dtype=tf.int32), reward=tf.constant(0, dtype=tf.float32), discount=tf.constant(1, dtype=tf.float32), observation=new_obs)
        return self._current_time_step

    def observation_spec(self):
        return self._observation_spec

    def action_spec(self):
        return self._action_spec


env = DummyEnv()

# Define the Q network.
q_net = q_network.QNetwork(
    env.observation_spec(),
    env.action_spec(),
    fc_layer_params=(100, 50),
)

# Create the DQN Agent.
optimizer = tf.keras.optimizers.Adam(learning_rate=1e-3)
train_step_counter = tf.Variable(0)
agent = dqn_agent.DqnAgent(
    time_step_spec=env.time_step_spec(),
    action_spec=env.action_spec(),
    q_network=q_net,
    optimizer=optimizer,
    td_errors_loss_fn=common.element_wise_squared_loss,
    train_step_counter=train_step_counter,
    summarize_grads_and_vars=True
)
agent.initialize()
summary_writer = tf.summary.create_file_writer('logs')

# Training Loop (simplified for demonstration)
num_iterations = 20
with summary_writer.as_default():
    for _ in range(num_iterations):
        experience, _ = env.get_next()
        loss_info = agent.train(experience)
        tf.summary.scalar('loss', loss_info.loss, step=train_step_counter)
        train_step_counter.assign_add(1)
