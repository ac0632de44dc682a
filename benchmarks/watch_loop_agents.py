"""The TF-Agents program that watch.py measures: compiled updates of a DqnAgent with a 2x64 network.

    python watch_loop_agents.py UPDATES [FOLDER]      # with a folder: TF-Agents' own summaries go there

It waits for a line on its input before each turn of updates, so that several copies can take turns.
"""

import sys
import time

import tensorflow as tf
from tf_agents.agents.dqn import dqn_agent
from tf_agents.networks import q_network
from tf_agents.specs import tensor_spec
from tf_agents.trajectories import time_step as ts
from tf_agents.trajectories import trajectory
from tf_agents.utils import common

TURN = 50

updates, folder = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)
tf.random.set_seed(0)
observation = tensor_spec.TensorSpec((4,), tf.float32)
action = tensor_spec.BoundedTensorSpec((), tf.int32, 0, 1)
agent = dqn_agent.DqnAgent(
    ts.time_step_spec(observation),
    action,
    q_network=q_network.QNetwork(observation, action, fc_layer_params=(64, 64)),
    optimizer=tf.keras.optimizers.Adam(1e-3),
    td_errors_loss_fn=common.element_wise_squared_loss,
    summarize_grads_and_vars=bool(folder),
    train_step_counter=tf.Variable(0, dtype=tf.int64),
)
agent.initialize()
if folder:
    tf.summary.create_file_writer(folder, flush_millis=10_000).set_as_default()
train = common.function(agent.train)
zeros = tf.zeros((32, 2))
batches = [
    trajectory.Trajectory(
        step_type=tf.ones((32, 2), tf.int32),
        observation=tf.random.normal((32, 2, 4)),
        action=tf.random.uniform((32, 2), 0, 2, tf.int32),
        policy_info=(),
        next_step_type=tf.ones((32, 2), tf.int32),
        reward=zeros + 1.0,
        discount=zeros + 0.9,
    )
    for _ in range(20)
]
sys.stdin.readline()
started = time.process_time()
for update in range(updates):
    loss = train(batches[update % 20]).loss
    if update % TURN == TURN - 1:
        print(time.process_time() - started, float(loss), flush=True)
        sys.stdin.readline()
        started = time.process_time()
