"""TF-Agents' DqnAgent with the hyperparameters of agents/dqn_keras.py."""

import os
import sys

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # before TensorFlow is imported

import tensorflow as tf
import tf_agents_common as common_peer
from tf_agents.agents.dqn import dqn_agent
from tf_agents.drivers import dynamic_step_driver
from tf_agents.networks import q_network
from tf_agents.utils import common

env = common_peer.environment("CartPole-v1")
agent = dqn_agent.DqnAgent(
    env.time_step_spec(),
    env.action_spec(),
    q_network=q_network.QNetwork(env.observation_spec(), env.action_spec(), fc_layer_params=(128, 128)),
    optimizer=tf.keras.optimizers.Adam(2.3e-3),
    epsilon_greedy=0.04,
    gamma=0.99,
    gradient_clipping=10.0,
    target_update_period=128,
    td_errors_loss_fn=common.element_wise_squared_loss,
)
agent.initialize()
agent.train = common.function(agent.train)
buffer = common_peer.replay(agent, 100_000)
driver = dynamic_step_driver.DynamicStepDriver(
    env, agent.collect_policy, observers=[buffer.add_batch], num_steps=256
)
common_peer.measure(agent, buffer, common.function(driver.run), 64, 256, 128, 1_024, int(sys.argv[1]))
