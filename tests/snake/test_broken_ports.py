"""The ways in which a port of snake-dqn ends at "No gradients provided for any variable": whygrad names each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.choosing import mostly_long

from whygrad.zoo.agents import snake_dqn

SCRIPT = Path(snake_dqn.__file__)
QUICK = "--height 5 --width 5 --filters 8 --units 8 --steps 90 --replay 64 --batch 16 --quiet --seed 1 --xla off".split()  # noqa: SIM905

TAPE = """        with tf.GradientTape() as tape:
            loss = td_loss(self.online, self.target, batch, self.gamma, self.double)
"""
OUTSIDE = """        loss = td_loss(self.online, self.target, batch, self.gamma, self.double)
        with tf.GradientTape() as tape:
            loss = loss * 1.0
"""
CHOSEN = "q = tf.gather(online(states, training=True), actions, batch_dims=1)"
EAGER = ("self.update = tf.function(self._update, jit_compile=xla)", "self.update = self._update")

PORTS = {
    "outside-tape": [(TAPE, OUTSIDE)],
    "numpy-round-trip": [EAGER, (CHOSEN, CHOSEN.replace("online(states, training=True)", "tf.constant(online(states, training=True).numpy())"))],
    "nondifferentiable-op": [(CHOSEN, "q = tf.cast(tf.argmax(online(states, training=True), axis=-1), tf.float32)")],
    "detached": [(CHOSEN, CHOSEN.replace("tf.gather(", "tf.gather(tf.stop_gradient(").replace("True)", "True))"))],
}  # fmt: skip


@pytest.mark.parametrize("rule", mostly_long(PORTS, "outside-tape".__eq__))
def test_a_broken_port_is_explained(rule, tmp_path):
    text = SCRIPT.read_text()
    for old, new in PORTS[rule]:
        assert text.count(old) == 1
        text = text.replace(old, new)
    (tmp_path / "port.py").write_text(text)
    line = 1 + text[: text.index("loss = td_loss" if rule == "outside-tape" else "    q = tf.")].count("\n")
    command = [sys.executable, "-m", "whygrad", "run", "--json", "report.json", "port.py", *QUICK]
    env = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=600)
    report = json.loads((tmp_path / "report.json").read_text())
    loud = [(f["rule"], f["site"]["line"]) for f in report["findings"] if f["severity"] == "error"]
    assert rule in [name for name, _ in loud], (loud, done.stderr[-2000:])
    assert line in [at for name, at in loud if name == rule] or rule == "outside-tape", (line, loud)
