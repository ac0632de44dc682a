import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tf_agents.agents.reinforce import reinforce_agent
from tf_agents.networks import actor_distribution_network, value_network
from tf_agents.specs import tensor_spec
from tf_agents.trajectories import time_step as ts
from tf_agents.trajectories import trajectory

tf.random.set_seed(1)
rng = np.random.default_rng(1)
observation_spec = tensor_spec.TensorSpec((4,), tf.float32, "observation")
action_spec = tensor_spec.BoundedTensorSpec((2,), tf.float32, -1.0, 1.0, "action")

actor_net = actor_distribution_network.ActorDistributionNetwork(observation_spec, action_spec, fc_layer_params=(16,))
value_net = value_network.ValueNetwork(observation_spec, fc_layer_params=(16,))
agent = reinforce_agent.ReinforceAgent(
    ts.time_step_spec(observation_spec),
    action_spec,
    actor_network=actor_net,
    value_network=value_net,
    value_estimation_loss_coef=0.5,
    optimizer=tf.compat.v1.train.AdamOptimizer(3e-3),
    normalize_returns=True,
    entropy_regularization=0.01,
)
agent.initialize()


def collect(n_episodes=6, length=8):
    obs = rng.normal(size=(n_episodes, length, 4)).astype("float32")
    first = [ts.StepType.FIRST] + [ts.StepType.MID] * (length - 1)
    nxt = [ts.StepType.MID] * (length - 1) + [ts.StepType.LAST]
    step = ts.TimeStep(
        step_type=tf.ones(n_episodes * length, tf.int32),
        reward=tf.zeros(n_episodes * length),
        discount=tf.ones(n_episodes * length),
        observation=tf.constant(obs.reshape(-1, 4)),
    )
    action = agent.collect_policy.action(step).action.numpy().reshape(n_episodes, length, 2)
    reward = -np.abs(np.clip(action, -1, 1) - obs[..., :2]).sum(-1)
    return trajectory.Trajectory(
        step_type=tf.constant(np.tile(first, (n_episodes, 1)).astype("int32")),
        observation=tf.constant(obs),
        action=tf.constant(np.clip(action, -1, 1)),
        policy_info=(),
        next_step_type=tf.constant(np.tile(nxt, (n_episodes, 1)).astype("int32")),
        reward=tf.constant(reward),
        discount=tf.constant(np.tile([1.0] * (length - 1) + [0.0], (n_episodes, 1)).astype("float32")),
    )


for it in range(8):
    experience = collect()
    info = agent.train(experience)
    print("iteration", it, "reward", float(tf.reduce_mean(experience.reward)), "loss", round(float(info.loss), 4))
