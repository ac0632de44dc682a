"""TF-Agents' DdpgAgent with the hyperparameters of agents/ddpg.py."""

import os
import sys

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # before TensorFlow is imported

import tensorflow as tf
import tf_agents_common as common_peer
from tf_agents.agents.ddpg import actor_network, critic_network, ddpg_agent
from tf_agents.drivers import dynamic_step_driver
from tf_agents.utils import common

env = common_peer.environment("Pendulum-v1")
agent = ddpg_agent.DdpgAgent(
    env.time_step_spec(),
    env.action_spec(),
    actor_network=actor_network.ActorNetwork(
        env.observation_spec(), env.action_spec(), fc_layer_params=(64, 64)
    ),
    critic_network=critic_network.CriticNetwork(
        (env.observation_spec(), env.action_spec()), joint_fc_layer_params=(64, 64)
    ),
    actor_optimizer=tf.keras.optimizers.Adam(1e-3),
    critic_optimizer=tf.keras.optimizers.Adam(2e-3),
    ou_stddev=0.3,
    target_update_tau=0.01,
    target_update_period=1,
    td_errors_loss_fn=common.element_wise_squared_loss,
    gamma=0.98,
)
agent.initialize()
agent.train = common.function(agent.train)
buffer = common_peer.replay(agent, 50_000)
driver = dynamic_step_driver.DynamicStepDriver(
    env, agent.collect_policy, observers=[buffer.add_batch], num_steps=50
)
common_peer.measure(agent, buffer, common.function(driver.run), 64, 50, 50, 1_000, int(sys.argv[1]))
