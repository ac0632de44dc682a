# Shortened from the TF-Agents DQN tutorial
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tf_agents.agents.dqn import dqn_agent
from tf_agents.drivers import dynamic_step_driver
from tf_agents.environments import py_environment, tf_py_environment
from tf_agents.networks import q_network
from tf_agents.policies import random_tf_policy
from tf_agents.replay_buffers import tf_uniform_replay_buffer
from tf_agents.specs import array_spec
from tf_agents.trajectories import time_step as ts
from tf_agents.utils import common

tf.random.set_seed(0)
np.random.seed(0)


class CueEnvironment(py_environment.PyEnvironment):
    def __init__(self):
        super().__init__()
        self._action_spec = array_spec.BoundedArraySpec((), np.int32, 0, 2, "action")
        self._observation_spec = array_spec.BoundedArraySpec((4,), np.float32, -5, 5, "observation")
        self._rng = np.random.default_rng(0)
        self._t = 0

    def action_spec(self):
        return self._action_spec

    def observation_spec(self):
        return self._observation_spec

    def _draw(self):
        self._state = self._rng.uniform(-1, 1, 4).astype(np.float32)
        return self._state

    def _reset(self):
        self._t = 0
        return ts.restart(self._draw())

    def _step(self, action):
        if self._current_time_step.is_last():
            return self.reset()
        reward = np.float32(action == self._state[:3].argmax())
        self._t += 1
        obs = self._draw()
        return ts.termination(obs, reward) if self._t >= 10 else ts.transition(obs, reward, 0.9)


env = tf_py_environment.TFPyEnvironment(CueEnvironment())
q_net = q_network.QNetwork(env.observation_spec(), env.action_spec(), fc_layer_params=(24,))
global_step = tf.Variable(0, dtype=tf.int64, trainable=False)
agent = dqn_agent.DdqnAgent(
    env.time_step_spec(),
    env.action_spec(),
    q_network=q_net,
    optimizer=tf.keras.optimizers.Adam(5e-3),
    td_errors_loss_fn=common.element_wise_huber_loss,
    target_update_period=4,
    train_step_counter=global_step,
)
agent.initialize()

buffer = tf_uniform_replay_buffer.TFUniformReplayBuffer(agent.collect_data_spec, batch_size=1, max_length=500)
random_policy = random_tf_policy.RandomTFPolicy(env.time_step_spec(), env.action_spec())
dynamic_step_driver.DynamicStepDriver(env, random_policy, [buffer.add_batch], num_steps=60).run()
driver = dynamic_step_driver.DynamicStepDriver(env, agent.collect_policy, [buffer.add_batch], num_steps=2)
iterator = iter(buffer.as_dataset(sample_batch_size=16, num_steps=2).prefetch(1))
train = common.function(agent.train)

time_step, policy_state = None, ()
for it in range(12):
    time_step, policy_state = driver.run(time_step, policy_state)
    experience, _ = next(iterator)
    loss = train(experience).loss
    if it % 4 == 0:
        print("step", int(global_step.numpy()), "loss", round(float(loss), 4))
