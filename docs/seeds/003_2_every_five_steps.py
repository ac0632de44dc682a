"""Seed 003, example 2, mended so that it runs: does 5 mean every fifth step, and what is written?"""

import sys
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
from tf_agents.agents.dqn import dqn_agent
from tf_agents.environments import random_py_environment, tf_py_environment
from tf_agents.networks import q_network
from tf_agents.specs import array_spec
from tf_agents.trajectories import trajectory
from tf_agents.utils import common

tf.keras.utils.set_random_seed(0)
observed = array_spec.BoundedArraySpec((4,), np.float32, -1.0, 1.0)
acted = array_spec.BoundedArraySpec((), np.int32, 0, 2)
env = tf_py_environment.TFPyEnvironment(random_py_environment.RandomPyEnvironment(observed, acted))
q_net = q_network.QNetwork(env.observation_spec(), env.action_spec(), fc_layer_params=(100, 50))
optimizer = tf.keras.optimizers.Adam(learning_rate=1e-3)
train_step_counter = tf.Variable(0, dtype=tf.int64)
agent = dqn_agent.DqnAgent(
    env.time_step_spec(),
    env.action_spec(),
    q_network=q_net,
    optimizer=optimizer,
    td_errors_loss_fn=common.element_wise_squared_loss,
    train_step_counter=train_step_counter,
    target_update_period=5,
    summarize_grads_and_vars=5,
)
agent.initialize()


def experience(batch=32):
    """Two steps in a row, many times."""
    pairs = []
    now = env.reset()
    while len(pairs) < batch:
        action = tf.random.uniform((1,), 0, 3, dtype=tf.int32)
        following = env.step(action)
        if not bool(now.is_last()[0]):
            first = trajectory.from_transition(now, agent.policy.action(now)._replace(action=action), following)
            pairs.append(tf.nest.map_structure(lambda x: tf.stack([x, x], axis=1), first))
        now = following
    return tf.nest.map_structure(lambda *xs: tf.concat(xs, axis=0), *pairs)


batch = experience()
with tf.summary.create_file_writer(sys.argv[1] if len(sys.argv) > 1 else "logs").as_default():
    for _ in range(20):
        agent.train(batch)
print("the counter after 20 updates:", int(train_step_counter))
