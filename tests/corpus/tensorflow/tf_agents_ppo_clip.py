import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tf_agents.agents.ppo import ppo_clip_agent
from tf_agents.networks import actor_distribution_network, value_network
from tf_agents.specs import tensor_spec
from tf_agents.trajectories import time_step as ts
from tf_agents.trajectories import trajectory
from tf_agents.utils import common

tf.random.set_seed(2)
rng = np.random.default_rng(2)
N, T = 6, 8
obs_spec = tensor_spec.TensorSpec((3,), tf.float32, "obs")
act_spec = tensor_spec.BoundedTensorSpec((1,), tf.float32, -1.0, 1.0, "act")

agent = ppo_clip_agent.PPOClipAgent(
    ts.time_step_spec(obs_spec),
    act_spec,
    optimizer=tf.keras.optimizers.Adam(2e-3),
    actor_net=actor_distribution_network.ActorDistributionNetwork(obs_spec, act_spec, fc_layer_params=(16,)),
    value_net=value_network.ValueNetwork(obs_spec, fc_layer_params=(16,)),
    num_epochs=3,
    importance_ratio_clipping=0.2,
    entropy_regularization=0.01,
    normalize_observations=False,
    normalize_rewards=False,
)
agent.initialize()
agent.train = common.function(agent.train)


def roll_out():
    obs = rng.normal(size=(N, T, 3)).astype("float32")
    flat = tf.constant(obs.reshape(-1, 3))
    step = ts.TimeStep(tf.ones(N * T, tf.int32), tf.zeros(N * T), tf.ones(N * T), flat)
    out = agent.collect_policy.action(step)
    reshape = lambda x: tf.reshape(x, (N, T) + tuple(x.shape[1:]))
    action = reshape(out.action)
    reward = -np.abs(action.numpy()[..., 0] - obs[..., 0])
    kinds = np.ones((N, T), "int32")
    kinds[:, 0] = ts.StepType.FIRST
    following = np.ones((N, T), "int32")
    following[:, -1] = ts.StepType.LAST
    return trajectory.Trajectory(
        step_type=tf.constant(kinds),
        observation=tf.constant(obs),
        action=action,
        policy_info=tf.nest.map_structure(reshape, out.info),
        next_step_type=tf.constant(following),
        reward=tf.constant(reward.astype("float32")),
        discount=tf.ones((N, T)),
    )


for it in range(5):
    experience = roll_out()
    loss = agent.train(experience=experience).loss
    print("iteration", it, "reward", round(float(tf.reduce_mean(experience.reward)), 4), "loss", round(float(loss), 4))
