import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import functools

import numpy as np
import tensorflow as tf
from tf_agents.agents.ddpg import actor_network, critic_network, ddpg_agent
from tf_agents.agents.sac import sac_agent, tanh_normal_projection_network
from tf_agents.agents.td3 import td3_agent
from tf_agents.networks import actor_distribution_network
from tf_agents.specs import tensor_spec
from tf_agents.trajectories import time_step as ts
from tf_agents.trajectories import trajectory
from tf_agents.utils import common

tf.random.set_seed(7)
rng = np.random.default_rng(7)
obs_spec = tensor_spec.TensorSpec((3,), tf.float32, "obs")
act_spec = tensor_spec.BoundedTensorSpec((1,), tf.float32, -1.0, 1.0, "act")
step_spec = ts.time_step_spec(obs_spec)
adam = tf.keras.optimizers.Adam


def critic():
    return critic_network.CriticNetwork((obs_spec, act_spec), joint_fc_layer_params=(16,))


def actor():
    return actor_network.ActorNetwork(obs_spec, act_spec, fc_layer_params=(16,))


def make_ddpg():
    return ddpg_agent.DdpgAgent(step_spec, act_spec, actor_network=actor(), critic_network=critic(),
                                actor_optimizer=adam(1e-3), critic_optimizer=adam(1e-3), target_update_tau=0.1)


def make_td3():
    return td3_agent.Td3Agent(step_spec, act_spec, actor_network=actor(), critic_network=critic(),
                              actor_optimizer=adam(1e-3), critic_optimizer=adam(1e-3),
                              target_update_tau=0.1, actor_update_period=2)


def make_sac():
    projection = functools.partial(tanh_normal_projection_network.TanhNormalProjectionNetwork)
    policy = actor_distribution_network.ActorDistributionNetwork(
        obs_spec, act_spec, fc_layer_params=(16,), continuous_projection_net=projection)
    return sac_agent.SacAgent(step_spec, act_spec, actor_network=policy, critic_network=critic(),
                              actor_optimizer=adam(1e-3), critic_optimizer=adam(1e-3), alpha_optimizer=adam(1e-3),
                              target_update_tau=0.1)


def replayed(n=16):
    obs = rng.normal(size=(n, 2, 3)).astype("float32")
    act = rng.uniform(-1, 1, size=(n, 2, 1)).astype("float32")
    ones = tf.ones((n, 2))
    return trajectory.Trajectory(
        step_type=tf.cast(ones, tf.int32), observation=tf.constant(obs), action=tf.constant(act), policy_info=(),
        next_step_type=tf.cast(ones, tf.int32), reward=tf.constant(-np.abs(act[..., 0] - obs[..., 0])), discount=ones)


for make in (make_ddpg, make_td3, make_sac):
    agent = make()
    agent.initialize()
    train = common.function(agent.train)
    for it in range(6):
        loss = train(replayed()).loss
    print(type(agent).__name__, "loss", round(float(loss), 4))
