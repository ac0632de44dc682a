"""``whygrad.summarize`` in a training loop of one's own, into our files and into other people's writers."""

import pytest
import torch
from tests.events import load
from torch import nn
from torch.utils.tensorboard import SummaryWriter

import whygrad


def trained():
    torch.manual_seed(0)
    q_net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
    q_net(torch.ones(2, 3)).pow(2).sum().backward()
    return q_net


@pytest.mark.parametrize("own", [True, False])
def test_a_module(tmp_path, own):
    q_net = trained()
    writer = str(tmp_path) if own else SummaryWriter(str(tmp_path))
    for step in (10, 20):
        whygrad.summarize(q_net, step, writer=writer)
    if own:
        for known in whygrad.api.summarizing._writers.values():
            known._watching.sink.flush()
    else:
        writer.close()
    found = load(tmp_path)
    tags = found.Tags()["scalars"]
    norm = q_net[0].weight.grad.norm().item()
    events = found.Scalars("q_net.0.weight/gradients/norm")
    assert [e.step for e in events] == [10, 20]
    assert events[0].value == pytest.approx(norm)
    assert "q_net.0.weight/update/ratio" not in tags
    (picture, _) = found.Histograms("q_net.0.weight/variable")
    assert picture.histogram_value.num == 12


def test_an_optimizer_and_missing_gradients(tmp_path):
    q_net, idle = trained(), nn.Linear(2, 2)
    optimizer = torch.optim.Adam([*q_net.parameters(), *idle.parameters()], lr=0.25)
    writer = SummaryWriter(str(tmp_path))
    whygrad.summarize(optimizer, 1, writer=writer, histograms=False)
    writer.close()
    found = load(tmp_path)
    assert found.Scalars("optimizer/learning_rate")[0].value == 0.25
    assert found.Scalars("idle.weight/gradients/absent")[0].value == 1.0
    assert found.Tags()["histograms"] == []


def test_wrong_use_is_one_sentence(tmp_path):
    with pytest.raises(TypeError, match="a model, an optimizer or a list of variables, and this is a int"):
        whygrad.summarize(3, 1)
    with pytest.raises(TypeError, match="writer is a SummaryWriter"):
        whygrad.summarize(trained(), 1, writer=3)


KERAS = """
import keras, tensorflow as tf
import whygrad

q_net = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4, name="hidden"), keras.layers.Dense(1, name="out")])
writer = tf.summary.create_file_writer("logs")
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(q_net(tf.ones((2, 3))))
gradients = tape.gradient(loss, q_net.trainable_variables)
whygrad.summarize(q_net, 7, writer=writer, gradients=gradients)
whygrad.summarize(q_net, 8, writer="variables")
writer.flush()
print(float(tf.norm(gradients[0])))
"""


@pytest.mark.forked("tensorflow")
@pytest.mark.tensorflow
def test_keras_with_a_writer_of_tf_summary(lab):
    lab.write(KERAS)
    done = lab.python("train.py")
    assert done.code == 0, done.stderr[-2000:]
    found = load(lab.folder / "logs")
    (event,) = found.Scalars("q_net.hidden.kernel/gradients/norm")
    assert (event.step, event.value) == (7, pytest.approx(float(done.stdout)))
    assert len(found.Histograms("q_net.hidden.kernel/variable")) == 1
    alone = load(lab.folder / "variables").Tags()["scalars"]
    assert "q_net.hidden.kernel/variable/norm" in alone
    assert not any("/gradients/" in tag for tag in alone)
