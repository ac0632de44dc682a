"""DDPG: a deterministic actor that follows the gradient of its critic (TensorFlow 2, Keras 3).

Lillicrap et al., Continuous control with deep reinforcement learning, 2015. Read it from top to bottom:
arguments, networks, the agent (act, remember, update), files. Run it by itself, `python ddpg.py`, or with a
diagnosis, `whygrad train ddpg`. To try an actor of your own, inherit from Actor and add it to ACTORS.
"""

import argparse
import contextlib
import json
import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import gymnasium as gym
import keras
import numpy as np
import tensorflow as tf

with contextlib.suppress(RuntimeError):  # TensorFlow may be running already, in a notebook
    tf.config.threading.set_intra_op_parallelism_threads(1)  # such small networks are slower on two
    tf.config.threading.set_inter_op_parallelism_threads(1)


def arguments(argv=None):
    """Every argument, one line each."""
    parser = argparse.ArgumentParser(prog="ddpg", description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--env", default="Pendulum-v1", help="a gymnasium environment with continuous actions")
    add("--seed", type=int, default=1, help="the same seed gives the same result")
    add("--steps", type=int, default=10_000, help="environment steps to train for")
    add(
        "--eval-episodes", type=int, default=100, help="episodes without noise after the training; 0 for none"
    )
    add("--save", metavar="FILE.npz", help="write the weights of actor and critic here at the end")
    add("--load", metavar="FILE.npz", help="begin with these weights")
    add(
        "--checkpoint",
        metavar="FILE.npz",
        help="write everything here now and then; go on from it if it exists",
    )
    add("--checkpoint-every", type=int, default=5_000, help="steps between two checkpoints")
    add("--curve", metavar="FILE.csv", help="write step, return and loss of every episode here")
    add("--actor", choices=sorted(ACTORS), default="plain", help="which actor class to train")
    add("--hidden", type=int, default=64, help="units in each of the two hidden layers")
    add("--actor-lr", type=float, default=1e-3, help="Adam's step size for the actor")
    add("--critic-lr", type=float, default=2e-3, help="Adam's step size for the critic")
    add("--gamma", type=float, default=0.98, help="discount of the next step's value")
    add("--tau", type=float, default=0.01, help="how far the target networks follow at each update")
    add(
        "--noise",
        type=float,
        default=0.15,
        help="standard deviation of the exploration, in half action ranges",
    )
    add("--buffer", type=int, default=50_000, help="transitions that the replay buffer holds")
    add("--batch", type=int, default=64, help="transitions in each gradient step")
    add("--learning-starts", type=int, default=1_000, help="random steps before the first update")
    add("--train-every", type=int, default=50, help="environment steps between two rounds of updates")
    add("--gradient-steps", type=int, default=50, help="gradient steps in a round")
    return parser.parse_args(argv)


class Actor(keras.Model):
    """Observation to action, between -1 and 1 in every dimension."""

    def __init__(self, actions, hidden):
        super().__init__()
        self.first = keras.layers.Dense(hidden, activation="relu")
        self.second = keras.layers.Dense(hidden, activation="relu")
        self.last = keras.layers.Dense(actions, activation="tanh")

    def call(self, observations):
        """The action."""
        return self.last(self.features(observations))

    def features(self, observations):
        """All but the last layer."""
        return self.second(self.first(observations))


class Scaled(keras.layers.Layer):
    """A layer of one's own: a trained factor for each unit."""

    def build(self, shape):
        """Made here, with add_weight, so that Keras knows it."""
        self.factor = self.add_weight(shape=(shape[-1],), initializer="ones", name="factor")

    def call(self, x):
        """Each unit times its factor."""
        return x * self.factor


class DeeperActor(Actor):
    """An actor modified by inheritance: one more layer, and one of an own class. All of it is trained.

    Layers are attributes, made in __init__, and used in call: then trainable_variables has them. The
    optimizer is built after them, from the whole list.
    """

    def __init__(self, actions, hidden):
        super().__init__(actions, hidden)
        self.third = keras.layers.Dense(hidden, activation="relu")
        self.scaled = Scaled()

    def features(self, observations):
        """Two more layers than before."""
        return self.scaled(self.third(super().features(observations)))


ACTORS = {"plain": Actor, "deeper": DeeperActor}


class Critic(keras.Model):
    """Observation and action to value."""

    def __init__(self, hidden):
        super().__init__()
        self.first = keras.layers.Dense(hidden, activation="relu")
        self.second = keras.layers.Dense(hidden, activation="relu")
        self.last = keras.layers.Dense(1)

    def call(self, observations, actions):
        """A value for each row."""
        both = tf.concat([observations, actions], axis=1)
        return tf.squeeze(self.last(self.second(self.first(both))), axis=1)


class DDPG:
    """The agent: what it has learned, what it remembers, and where its training stands."""

    def __init__(self, args):
        self.args = args
        self.rng = np.random.default_rng(args.seed)
        keras.utils.set_random_seed(args.seed)
        self.env = gym.make(args.env, disable_env_checker=True)
        space, observations = self.env.action_space, self.env.observation_space.shape[0]
        self.middle, self.range = (space.high + space.low) / 2, (space.high - space.low) / 2
        self.actions = space.shape[0]
        self.actor, self.target_actor = (ACTORS[args.actor](self.actions, args.hidden) for _ in range(2))
        self.critic, self.target_critic = Critic(args.hidden), Critic(args.hidden)
        nothing, no_action = tf.zeros((1, observations)), tf.zeros((1, self.actions))
        for actor, critic in ((self.actor, self.critic), (self.target_actor, self.target_critic)):
            actor(nothing)  # Keras makes the variables when a network is first called
            critic(nothing, no_action)
        self.target_actor.set_weights(self.actor.get_weights())
        self.target_critic.set_weights(self.critic.get_weights())
        self.actor_optimizer = keras.optimizers.Adam(args.actor_lr)
        self.critic_optimizer = keras.optimizers.Adam(args.critic_lr)
        self.actor_optimizer.build(self.actor.trainable_variables)
        self.critic_optimizer.build(self.critic.trainable_variables)
        # The replay buffer lives where the updates run. A row: observation, next one, action, reward, end.
        self.widths = [observations, observations, self.actions, 1, 1]
        self.memory = tf.Variable(tf.zeros((args.buffer, sum(self.widths))), trainable=False)
        self.fresh_rows = []
        self.policy = tf.function(self.actor, reduce_retracing=True)
        self.step = self.stored = self.updates = 0
        self.loss = float("nan")
        self.curve = []  # step, return, loss of each episode

    def act(self, observation):
        """The action without noise."""
        return self.middle + self.range * self.squashed(observation)

    def squashed(self, observation):
        """The actor's answer, between -1 and 1."""
        return self.policy(tf.constant(observation[None], tf.float32)).numpy()[0]

    def value(self, observation):
        """What the agent expects from here on."""
        observations = tf.constant(observation[None], tf.float32)
        return float(self.critic(observations, self.actor(observations))[0])

    def learn(self, steps, each_episode=lambda agent: None):
        """Train until this many environment steps are done."""
        args, env, rng = self.args, self.env, self.rng
        while self.step < steps:
            # A seed for every episode: what comes depends on the generator alone, which checkpoints keep.
            observation, _ = env.reset(seed=int(rng.integers(2**31)))
            episode_return, over = 0.0, False
            while not over and self.step < steps:
                if self.step < args.learning_starts:
                    action = rng.uniform(-1.0, 1.0, self.actions)
                else:
                    noise = args.noise * rng.standard_normal(self.actions)
                    action = np.clip(self.squashed(observation) + noise, -1.0, 1.0)
                chosen = (self.middle + self.range * action).astype(np.float32)
                following, reward, terminated, truncated, _ = env.step(chosen)
                # Only `terminated` ends the future. A time limit cuts an episode that has a value.
                self.fresh_rows.append([*observation, *following, *action, reward, terminated])
                observation, over = following, terminated or truncated
                episode_return += float(reward)
                self.step += 1
                if self.step % args.train_every == 0:
                    self.remember()
                    if self.step >= args.learning_starts:
                        self.update()
            if over:
                self.curve.append((self.step, episode_return, self.loss))
                each_episode(self)

    def remember(self):
        """Write what was collected into the replay buffer, over the oldest when it is full."""
        rows = (self.stored + np.arange(len(self.fresh_rows))) % self.args.buffer
        self.memory.scatter_nd_update(rows[:, None], np.array(self.fresh_rows, np.float32))
        self.stored += len(self.fresh_rows)
        self.fresh_rows = []

    def update(self):
        """One round of gradient steps: one call of a compiled function."""
        args = self.args
        filled = min(self.stored, args.buffer)
        drawn = self.rng.integers(filled, size=(args.gradient_steps, args.batch), dtype=np.int32)
        self.loss = float(self.round(tf.constant(drawn)))
        self.updates += 2 * args.gradient_steps

    @tf.function(jit_compile=True)
    def round(self, drawn):
        """All gradient steps of a round, compiled together; the mean of the critic's loss."""
        total = tf.constant(0.0)
        for i in tf.range(self.args.gradient_steps):
            total += self.gradient_step(tf.gather(self.memory, drawn[i]))
        return total / self.args.gradient_steps

    def gradient_step(self, batch):
        """Critic, actor, and the target networks a little after them."""
        observed, followed, acted, rewards, ends = tf.split(batch, self.widths, axis=1)
        rewards, goes_on = tf.squeeze(rewards, 1), 1.0 - tf.squeeze(ends, 1)
        # The targets are made outside of the tape: nothing is to flow into them.
        next_value = self.target_critic(followed, self.target_actor(followed))
        targets = rewards + self.args.gamma * goes_on * next_value
        with tf.GradientTape() as tape:
            values = self.critic(observed, acted)
            critic_loss = tf.reduce_mean(tf.square(values - targets))
        gradients = tape.gradient(critic_loss, self.critic.trainable_variables)
        self.critic_optimizer.apply(gradients, self.critic.trainable_variables)
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch([v.value for v in self.actor.trainable_variables])
            actions = self.actor(observed)
            actor_loss = -tf.reduce_mean(self.critic(observed, actions))
        gradients = tape.gradient(actor_loss, self.actor.trainable_variables)
        self.actor_optimizer.apply(gradients, self.actor.trainable_variables)
        follow(self.target_critic, self.critic, self.args.tau)
        follow(self.target_actor, self.actor, self.args.tau)
        return critic_loss

    def networks(self):
        """All networks by name."""
        return {
            "actor": self.actor,
            "critic": self.critic,
            "target_actor": self.target_actor,
            "target_critic": self.target_critic,
        }

    def state(self):
        """Everything that the rest of the training depends on, as arrays."""
        arrays = {"memory": self.memory[: min(self.stored, self.args.buffer)].numpy()}
        arrays["fresh_rows"] = np.array(self.fresh_rows, np.float64).reshape(-1, sum(self.widths))
        for name, net in self.networks().items():
            arrays |= {f"{name}/{i}": w for i, w in enumerate(net.get_weights())}
        for name, optimizer in (("actor", self.actor_optimizer), ("critic", self.critic_optimizer)):
            arrays |= {f"adam/{name}/{i}": v.numpy() for i, v in enumerate(optimizer.variables)}
        told = {"step": self.step, "stored": self.stored, "updates": self.updates, "loss": self.loss}
        told |= {"rng": self.rng.bit_generator.state, "curve": self.curve}
        return arrays | {"told": np.array(json.dumps(told))}

    def restore(self, arrays):
        """Be exactly where ``state`` was taken."""
        self.memory[: len(arrays["memory"])].assign(arrays["memory"])
        self.fresh_rows = [list(row) for row in arrays["fresh_rows"]]
        for name, net in self.networks().items():
            load_network(net, arrays, f"{name}/")
        for name, optimizer in (("actor", self.actor_optimizer), ("critic", self.critic_optimizer)):
            for i, variable in enumerate(optimizer.variables):
                variable.assign(arrays[f"adam/{name}/{i}"])
        told = json.loads(str(arrays["told"]))
        self.step, self.stored, self.updates = told["step"], told["stored"], told["updates"]
        self.loss, self.curve = told["loss"], [tuple(row) for row in told["curve"]]
        self.rng.bit_generator.state = told["rng"]

    def weights(self):
        """The weights of actor and critic, as arrays."""
        nets = {"actor": self.actor, "critic": self.critic}
        return {f"{n}/{i}": w for n, net in nets.items() for i, w in enumerate(net.get_weights())}

    def load(self, arrays):
        """Begin with these weights, the target networks too."""
        for name, net in self.networks().items():
            load_network(net, arrays, f"{name.removeprefix('target_')}/")


def follow(target, online, tau):
    """Move the target network a little towards the online one."""
    for slow, fast in zip(target.variables, online.variables, strict=True):
        slow.assign(slow + tau * (fast - slow))


def load_network(net, arrays, prefix=""):
    """Write weights into the network."""
    try:
        net.set_weights([arrays[f"{prefix}{i}"] for i in range(len(net.weights))])
    except (KeyError, ValueError):
        sys.exit("ddpg: these weights belong to another network: check --hidden, --actor and --env")


def read(path):
    """The arrays of a file. No pickle is ever opened."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return dict(file)
    except (OSError, ValueError) as error:
        sys.exit(f"ddpg: {path} cannot be read: {error}")


def write(path, arrays):
    """The whole file or nothing: a kill in the middle leaves the old one."""
    with open(f"{path}.part", "wb") as file:
        np.savez(file, **arrays)
    os.replace(f"{path}.part", path)


def write_curve(path, curve):
    """One line for each episode."""
    with open(path, "w", encoding="utf-8") as file:
        file.write("step,return,loss\n")
        file.writelines(f"{step},{value:g},{loss:g}\n" for step, value, loss in curve)


def evaluate(agent, episodes, seed):
    """The returns of greedy episodes in a fresh environment."""
    env = gym.make(agent.args.env, disable_env_checker=True)
    returns = []
    for episode in range(episodes):
        observation, _ = env.reset(seed=seed + episode)
        total, over = 0.0, False
        while not over:
            observation, reward, terminated, truncated, _ = env.step(agent.act(observation))
            total, over = total + float(reward), terminated or truncated
        returns.append(total)
    return returns


class Progress:
    """A bar on a terminal, a line for every tenth otherwise; on stderr."""

    def __init__(self, agent, steps):
        self.steps, self.updates = max(steps, 1), agent.updates
        self.started, self.shown = time.perf_counter(), 0.0
        self.tenth = 10 * agent.step // self.steps

    def show(self, agent):
        """Tell how it goes, if it is time to."""
        now, tenth = time.perf_counter(), 10 * agent.step // self.steps
        bar = sys.stderr.isatty()
        if tenth == self.tenth and not (bar and now - self.shown > 0.2):
            return
        self.shown, self.tenth = now, tenth
        lately = [row[1] for row in agent.curve[-20:]]
        speed = (agent.updates - self.updates) / (now - self.started)
        text = f"step {agent.step:,} of {self.steps:,}  return {np.mean(lately):.1f}"
        text += f"  loss {agent.loss:.4g}  {speed:,.0f} updates/s"
        filled = 20 * agent.step // self.steps
        line = f"\r[{'#' * filled}{'.' * (20 - filled)}] {text}\033[K" if bar else f"{text}\n"
        sys.stderr.write(line + ("\n" if bar and agent.step >= self.steps else ""))
        sys.stderr.flush()


def make_agent(env, seed):
    """For `whygrad probe`: an agent with learn(steps), act and value, sized for tiny environments."""
    small = "--steps 3000 --learning-starts 200 --noise 0.3 --hidden 32"
    agent = DDPG(arguments([*small.split(), "--env", env, "--seed", str(seed), "--gamma", "0.5"]))
    agent.gamma = agent.args.gamma
    return agent


make_agent.continuous = True


def main():
    """Train, evaluate, save."""
    args = arguments()
    agent = DDPG(args)
    if args.load:
        agent.load(read(args.load))
    if args.checkpoint and os.path.exists(args.checkpoint):
        agent.restore(read(args.checkpoint))
        print(f"going on from step {agent.step:,} of {args.checkpoint}", file=sys.stderr)
    progress, saved_at = Progress(agent, args.steps), agent.step

    def each_episode(agent):
        nonlocal saved_at
        progress.show(agent)
        if args.checkpoint and agent.step - saved_at >= args.checkpoint_every:
            write(args.checkpoint, agent.state())
            saved_at = agent.step

    agent.learn(args.steps, each_episode)
    if args.curve:
        write_curve(args.curve, agent.curve)
    if args.save:
        write(args.save, agent.weights())
    if args.eval_episodes:
        returns = evaluate(agent, args.eval_episodes, seed=10_000 + args.seed)
        print(f"evaluation: mean return {np.mean(returns):.1f} over {len(returns)} episodes of {args.env}")
    return agent


if __name__ == "__main__":
    agent = main()
