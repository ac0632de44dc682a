import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from tf_agents.agents.categorical_dqn import categorical_dqn_agent
from tf_agents.networks import categorical_q_network
from tf_agents.replay_buffers import tf_uniform_replay_buffer
from tf_agents.specs import tensor_spec
from tf_agents.trajectories import time_step as ts
from tf_agents.trajectories import trajectory
from tf_agents.utils import common

tf.random.set_seed(19)
rng = np.random.default_rng(19)
obs_spec = tensor_spec.TensorSpec((4,), tf.float32, "obs")
act_spec = tensor_spec.BoundedTensorSpec((), tf.int32, 0, 2, "act")

net = categorical_q_network.CategoricalQNetwork(obs_spec, act_spec, num_atoms=11, fc_layer_params=(24,))
counter = tf.Variable(0, dtype=tf.int64)
agent = categorical_dqn_agent.CategoricalDqnAgent(
    ts.time_step_spec(obs_spec),
    act_spec,
    categorical_q_network=net,
    optimizer=tf.keras.optimizers.Adam(5e-3),
    min_q_value=-2.0,
    max_q_value=2.0,
    n_step_update=2,
    gamma=0.9,
    gradient_clipping=10.0,
    target_update_tau=0.2,
    target_update_period=2,
    train_step_counter=counter,
)
agent.initialize()
buffer = tf_uniform_replay_buffer.TFUniformReplayBuffer(agent.collect_data_spec, batch_size=8, max_length=60)


def collect(obs):
    step = ts.TimeStep(tf.ones(8, tf.int32), tf.zeros(8), tf.ones(8), tf.constant(obs))
    action = agent.collect_policy.action(step).action
    reward = tf.constant((action.numpy() == obs[:, :3].argmax(1)).astype("float32"))
    nxt = rng.normal(size=(8, 4)).astype("float32")
    buffer.add_batch(trajectory.from_transition(
        step, ts_action(action), ts.TimeStep(tf.ones(8, tf.int32), reward, tf.ones(8), tf.constant(nxt))))
    return nxt, float(tf.reduce_mean(reward))


def ts_action(action):
    from tf_agents.trajectories import policy_step
    return policy_step.PolicyStep(action=action)


obs = rng.normal(size=(8, 4)).astype("float32")
for _ in range(12):
    obs, _ = collect(obs)
batches = iter(buffer.as_dataset(sample_batch_size=16, num_steps=3, single_deterministic_pass=False).prefetch(2))
train = common.function(agent.train)
for it in range(15):
    obs, r = collect(obs)
    experience, _ = next(batches)
    loss = train(experience).loss
    if it % 5 == 0:
        print("step", counter.numpy(), "loss", round(float(loss), 4), "reward", r)
