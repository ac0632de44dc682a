"""What both TF-Agents peers share: the environment through TF-Agents' own wrapper, and the timing."""

import os
import time

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import gymnasium as gym
import numpy as np
import tensorflow as tf
from tf_agents.environments import py_environment, tf_py_environment
from tf_agents.replay_buffers import tf_uniform_replay_buffer
from tf_agents.specs import array_spec
from tf_agents.trajectories import time_step as ts

tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)


class Environment(py_environment.PyEnvironment):
    def __init__(self, name):
        super().__init__()
        self.env = gym.make(name)
        space, actions = self.env.observation_space, self.env.action_space
        self._observed = array_spec.ArraySpec(space.shape, np.float32, "observation")
        if isinstance(actions, gym.spaces.Discrete):
            self._acted = array_spec.BoundedArraySpec((), np.int64, 0, int(actions.n) - 1, "action")
        else:
            self._acted = array_spec.BoundedArraySpec(
                actions.shape, np.float32, actions.low, actions.high, "action"
            )

    def observation_spec(self):
        return self._observed

    def action_spec(self):
        return self._acted

    def _reset(self):
        return ts.restart(np.asarray(self.env.reset()[0], np.float32))

    def _step(self, action):
        if self._current_time_step.is_last():
            return self._reset()
        observation, reward, terminated, truncated, _ = self.env.step(
            action if np.ndim(action) else int(action)
        )
        observation, reward = np.asarray(observation, np.float32), np.float32(reward)
        if terminated:
            return ts.termination(observation, reward)
        return ts.truncation(observation, reward, 1.0) if truncated else ts.transition(observation, reward)


def environment(name):
    return tf_py_environment.TFPyEnvironment(Environment(name))


def replay(agent, size):
    return tf_uniform_replay_buffer.TFUniformReplayBuffer(
        agent.collect_data_spec, batch_size=1, max_length=size
    )


def measure(agent, buffer, collect, batch, every, gradient_steps, starts, steps):
    """The usual loop of TF-Agents' tutorials: a driver, a dataset of the buffer, a compiled train."""
    dataset = iter(buffer.as_dataset(sample_batch_size=batch, num_steps=2).prefetch(3))
    step = 0
    while step < starts:
        collect()
        step += every
    agent.train(next(dataset)[0])  # traced and compiled before the clock starts, as for ours
    wall, cpu, first = time.perf_counter(), time.process_time(), step
    while step < steps + first:
        collect()
        step += every
        for _ in range(gradient_steps):
            experience, _ = next(dataset)
            agent.train(experience)
    done = step - first
    print(f"measured {done / (time.perf_counter() - wall):.1f} {done / (time.process_time() - cpu):.1f}")
