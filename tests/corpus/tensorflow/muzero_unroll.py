import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(29)
N_ACT, HIDDEN, UNROLL = 3, 8, 3


def scale_gradient(x, scale):
    return x * scale + tf.stop_gradient(x) * (1.0 - scale)


@tf.custom_gradient
def clip_backward(x):
    def grad(upstream):
        return tf.clip_by_value(upstream, -1.0, 1.0)
    return tf.identity(x), grad


def mlp(n_in, n_out, last=None):
    return keras.Sequential([keras.Input((n_in,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(n_out, activation=last)])


representation, dynamics, reward_head = mlp(4, HIDDEN, "tanh"), mlp(HIDDEN + N_ACT, HIDDEN, "tanh"), mlp(HIDDEN + N_ACT, 1)
policy_head, value_head = mlp(HIDDEN, N_ACT), mlp(HIDDEN, 1)
networks = [representation, dynamics, reward_head, policy_head, value_head]
variables = [v for n in networks for v in n.trainable_variables]
optimizer = keras.optimizers.SGD(0.02, momentum=0.9)


def search(obs):
    """Stand-in for MCTS: one step look-ahead, all in numpy."""
    h = representation(obs).numpy()
    scores = []
    for a in range(N_ACT):
        x = np.concatenate([h, np.tile(np.eye(N_ACT, dtype="float32")[a], (len(h), 1))], axis=1)
        scores.append(reward_head(x).numpy()[:, 0] + 0.9 * value_head(dynamics(x)).numpy()[:, 0])
    scores = np.stack(scores, axis=1)
    visits = np.exp(scores - scores.max(1, keepdims=True))
    return visits / visits.sum(1, keepdims=True), scores.max(1)


@tf.function
def train(obs, actions, target_reward, target_policy, target_value):
    with tf.GradientTape() as tape:
        h = clip_backward(representation(obs))
        loss = 0.0
        for k in range(UNROLL):
            p_loss = tf.nn.softmax_cross_entropy_with_logits(labels=target_policy[:, k], logits=policy_head(h))
            v_loss = tf.square(target_value[:, k] - value_head(h)[:, 0])
            x = tf.concat([h, tf.one_hot(actions[:, k], N_ACT)], axis=1)
            r_loss = tf.square(target_reward[:, k] - reward_head(x)[:, 0])
            step_loss = tf.reduce_mean(p_loss + 0.5 * v_loss + r_loss)
            loss += step_loss if k == 0 else scale_gradient(step_loss, 1.0 / UNROLL)
            h = scale_gradient(dynamics(x), 0.5)
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


for it in range(15):
    obs = np.random.randn(24, 4).astype("float32")
    policy, value = search(obs)
    actions = np.stack([[np.random.choice(N_ACT, p=p / p.sum()) for _ in range(UNROLL)] for p in policy.astype("float64")])
    reward = (actions == obs[:, :3].argmax(1)[:, None]).astype("float32")
    loss = train(obs, actions, reward, np.repeat(policy[:, None], UNROLL, 1), np.repeat(value[:, None], UNROLL, 1))
    if it % 5 == 0:
        print("it", it, "loss", round(float(loss), 4))
