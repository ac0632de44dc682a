"""Seed 000, example 3, as written up to its first statement: the environment is left to the reader."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import tensorflow as tf
import tf_agents

# Create a very simple environment for debugging
env = tf_agents.environments.tf_py_environment.TFPyEnvironment(
    SimpleEnvironment()  # Replace SimpleEnvironment with a minimal custom env.
)
