"""Two frameworks in one program, of which one trains nothing."""

from __future__ import annotations

import json
from importlib.util import find_spec

import pytest

pytestmark = [
    pytest.mark.tensorflow,
    pytest.mark.forked("tensorflow"),
    pytest.mark.skipif(find_spec("tensorflow") is None, reason="needs tensorflow"),
]

TORCH = """
    import tensorflow as tf
    import torch
    {unused}
    net = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for number in range(2000):
        loss = net(torch.ones(2, 3)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("never stopped")
"""

TENSORFLOW = """
    import torch
    import tensorflow as tf
    {unused}
    net = tf.keras.layers.Dense(1)
    optimizer = tf.keras.optimizers.SGD(0.1)
    for number in range(2000):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(net(tf.ones((2, 3)))))
        variables = net.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    print("never stopped")
"""


@pytest.mark.parametrize(
    ("script", "unused", "most"),
    [
        pytest.param(TORCH, "", 5, marks=pytest.mark.long),
        (TORCH, "other = tf.keras.optimizers.SGD(0.1)", 40),
        pytest.param(TENSORFLOW, "", 5, marks=pytest.mark.long),
        (TENSORFLOW, "other = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1)", 40),
    ],
    ids=["torch", "torch beside an optimizer", "tensorflow", "tensorflow beside an optimizer"],
)
def test_check_does_not_wait_for_the_one_that_is_idle(lab, script, unused, most):
    path = lab.write(script.format(unused=unused))
    done = lab.whygrad("check", "--quiet", "--json", "check.json", str(path))
    run = json.loads((lab.folder / "check.json").read_text())
    assert (done.code, done.stdout, run["stopped_early"]) == (0, "", True), done.stderr
    assert max(update["count"] for update in run["updates"]) <= most
