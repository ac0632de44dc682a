import argparse
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import gymnasium as gym
import numpy as np
import tensorflow as tf


def mlp(sizes, activation="tanh"):
    model = tf.keras.Sequential([tf.keras.Input((sizes[0],))])
    for j, size in enumerate(sizes[1:]):
        model.add(tf.keras.layers.Dense(size, activation=activation if j < len(sizes) - 2 else None))
    return model


class CategoricalActor:
    def __init__(self, obs_dim, act_dim, hidden):
        self.logits_net = mlp([obs_dim] + hidden + [act_dim])

    def sample(self, obs):
        return tf.random.categorical(self.logits_net(obs), 1)[0, 0].numpy()

    def log_prob(self, obs, act):
        return -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=act, logits=self.logits_net(obs))


def vpg(env_name, epochs=3, steps=120, gamma=0.99, pi_lr=3e-3, vf_lr=1e-2, train_v_iters=8, seed=0):
    tf.keras.utils.set_random_seed(seed)
    env = gym.make(env_name)
    pi = CategoricalActor(4, 2, [24])
    v = mlp([4, 24, 1])
    pi_optimizer, vf_optimizer = tf.keras.optimizers.Adam(pi_lr), tf.keras.optimizers.Adam(vf_lr)

    for epoch in range(epochs):
        obs_buf, act_buf, ret_buf, ep_rews = [], [], [], []
        o, _ = env.reset(seed=seed + epoch)
        for t in range(steps):
            a = pi.sample(o[None])
            obs_buf.append(o)
            act_buf.append(a)
            o, r, term, trunc, _ = env.step(a)
            ep_rews.append(r)
            if term or trunc or t == steps - 1:
                run, rets = 0.0, []
                for r in reversed(ep_rews):
                    run = r + gamma * run
                    rets.append(run)
                ret_buf += rets[::-1]
                ep_rews = []
                o, _ = env.reset()
        obs, act = np.array(obs_buf, np.float32), np.array(act_buf, np.int32)
        ret = (np.array(ret_buf, np.float32) - np.mean(ret_buf)) / (np.std(ret_buf) + 1e-8)
        ret = ret.astype(np.float32)

        with tf.GradientTape() as tape:
            value = tf.squeeze(v(obs), axis=1)
            adv = ret - tf.stop_gradient(value)
            loss_pi = -tf.reduce_mean(pi.log_prob(obs, act) * adv)
            loss_v = tf.reduce_mean((ret - value) ** 2)
        pi_grads = tape.gradient(loss_pi, pi.logits_net.trainable_variables)
        pi_optimizer.apply_gradients(zip(pi_grads, pi.logits_net.trainable_variables))
        for i in range(train_v_iters):
            v_grads = tape.gradient(loss_v, v.trainable_variables)
            vf_optimizer.apply_gradients(zip(v_grads, v.trainable_variables))
        print("epoch", epoch, "LossPi", float(loss_pi), "LossV", float(loss_v))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--env", type=str, default="CartPole-v1")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    vpg(args.env, seed=args.seed)
