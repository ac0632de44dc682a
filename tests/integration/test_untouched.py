"""A script full of objects that count whoever asks them anything: nobody does, and the diagnosis is there."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

HOSTILE = Path(__file__).parents[1] / "hostile.py"

AROUND = """
    import sys, types
    import hostile
    from hostile import CALLS, everything

    globals().update(everything())

    class Silent(types.ModuleType):
        def __getattr__(self, name):
            CALLS.append(f"module {name}")
            raise OSError(name)
    silent = Silent("silent")

    class Agent:
        def __init__(self):
            self.things = list(everything().values())
            self.by_name = everything()
            for name, thing in everything().items():
                object.__setattr__(self, name, thing)
            self.build()

        @property
        def current(self):
            CALLS.append("Agent.current")

        def learn(self):
            remote, *others = everything().values()
            def loss_of(x):
                remote  # a closure cell
                return self.loss(x)
            for thing in everything().values():
                pass
            self.update(loss_of)
"""

ENDING = """
    agent = Agent()
    for env in everything().values():
        agent.learn()
    print("asked:", CALLS)
    sys.exit(3 if CALLS else 0)
"""

TORCH = """
    import torch, torch.nn as nn

    class Net(nn.Sequential):
        def __init__(self, *layers):
            super().__init__(*layers)
            self.env = hostile.Forwarding()
            self.envs = [hostile.Remote(), hostile.HostileList([1])]
            vars(self).update(remote=hostile.Remote(), config=hostile.HostileDict(a=1))  # torch itself would ask

    class MyAgent(Agent):
        def build(self):
            self.actor = Net(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
            self.critic = Net(nn.Linear(2, 1))
            parameters = [*nn.Sequential.parameters(self.actor), *self.critic.parameters()]
            self.opt = torch.optim.SGD(parameters, lr=0.1)

        def loss(self, x):
            action = self.actor(x).detach()
            return self.critic(action).pow(2).mean()

        def update(self, loss_of):
            self.opt.zero_grad()
            loss = loss_of(torch.ones(3, 4))
            loss.backward()
            self.opt.step()
    Agent = MyAgent
"""

TENSORFLOW = """
    import tensorflow as tf

    class Net(tf.keras.Model):
        def __init__(self, *layers):
            super().__init__()
            self.parts = tf.keras.Sequential(layers)
            self.env = hostile.Forwarding()
            self.envs = [hostile.Forwarding()]
            vars(self).update(remote=hostile.Remote(), config=hostile.HostileDict(a=1))  # Keras itself would ask

        def call(self, x):
            return self.parts(x)

    class MyAgent(Agent):
        def build(self):
            self.actor = Net(tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(2))
            self.critic = Net(tf.keras.layers.Dense(1))
            self.opt = tf.keras.optimizers.SGD(0.1)

        def loss(self, x):
            action = tf.stop_gradient(self.actor(x))
            return tf.reduce_mean(tf.square(self.critic(action)))

        def update(self, loss_of):
            with tf.GradientTape() as tape:
                loss = loss_of(tf.ones((3, 4)))
            variables = self.actor.trainable_variables + self.critic.trainable_variables
            self.opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
    Agent = MyAgent
"""

COMPILED = """
    class Compiled(MyAgent):
        def build(self):
            super().build()
            self.known = self.loss
            self.whole = tf.function(super().update, autograph=False)  # autograph itself asks globals

        def update(self, loss_of):
            self.whole(self.known)
    Agent = Compiled
"""

ON_TORCH = [pytest.mark.torch, pytest.mark.forked("torch")]
ON_TENSORFLOW = [pytest.mark.tensorflow, pytest.mark.forked("tensorflow")]


@pytest.mark.parametrize(
    "framework",
    [
        pytest.param(TORCH, id="torch", marks=ON_TORCH),
        pytest.param(TENSORFLOW, id="tensorflow", marks=ON_TENSORFLOW),
        pytest.param(TENSORFLOW + COMPILED, id="compiled", marks=ON_TENSORFLOW),
    ],
)
@pytest.mark.parametrize(
    "watch", [(), pytest.param(("--watch", "--every", "1"), marks=pytest.mark.long)], ids=["run", "watch"]
)
def test_nobody_is_asked_and_the_fault_is_found(lab, framework, watch):
    shutil.copy(HOSTILE, lab.folder)
    script = lab.write(AROUND + framework + ENDING)
    alone = lab.python(str(script))
    assert (alone.stdout, alone.code) == ("asked: []\n", 0), alone.stderr
    done = lab.whygrad("run", "--quiet", "--out", "out", *watch, str(script))
    assert (done.stdout, done.code) == (alone.stdout, 0), done.stderr
    report = json.loads((lab.folder / "out" / "report.json").read_text())
    assert [n for n in report["notes"] if n["kind"] == "internal"] == []
    assert [(f["rule"], f["network"]) for f in report["findings"]] == [("detached", "agent.actor")]
