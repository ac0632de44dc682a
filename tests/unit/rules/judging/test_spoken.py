"""Operations as people write them: TensorFlow's names are read in the line, PyTorch's are known."""

import pytest

from whygrad.model import Op, Site
from whygrad.rules.dialects import TENSORFLOW, TORCH
from whygrad.rules.paths import cuts


def op(name, code="", **more):
    return Op(id=1, name=name, site=Site("/home/me/train.py", 4, "update", code), **more)


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("argmax", "a = tf.argmax(q, axis=1)", "tf.argmax"),
        ("argmax", "a = net_tf.argmax(q)", "argmax"),
        ("stop_gradient", "x = keras.ops.stop_gradient(y)", "keras.ops.stop_gradient"),
        ("stop_gradient", "x = frozen(y)", "tf.stop_gradient"),
        ("multinomial", "a = tf.random.categorical(logits, 1)", "tf.random.categorical"),
        ("top_k", "o = tf.argsort(scores)", "tf.argsort"),
        ("cast", "i = tf.cast(x, tf.int32)", "tf.cast"),
        ("round", "u = tf.math.round(x)", "tf.math.round"),
        ("numpy", "u = x.numpy()", ".numpy()"),
        ("predict", "u = net.predict(x)", "model.predict"),
    ],
)
def test_spoken_in_tensorflow(name, code, said):
    assert cuts.spoken(op(name, code), TENSORFLOW) == said


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("argmax", "a = torch.argmax(q, 1)", "argmax"),
        ("detach", "x = y.detach()", ".detach()"),
        ("long", "x = y.long()", ".long()"),
        ("__float__", "x = float(y)", "float()"),
        ("__add__", "x = y + z", "add"),
    ],
)
def test_spoken_in_pytorch(name, code, said):
    assert cuts.spoken(op(name, code), TORCH) == said


@pytest.mark.parametrize(
    ("name", "code", "made", "dialect"),
    [
        ("tensor", "x = torch.tensor(n)", "torch.tensor", TORCH),
        ("data", "x = y + n", "", TORCH),
        ("constant", "x = tf.constant(n)", "tf.constant", TENSORFLOW),
        ("constant", "x = tf.convert_to_tensor(n)", "tf.convert_to_tensor", TENSORFLOW),
        ("constant", "x = y + n", "", TENSORFLOW),
    ],
)
def test_maker(name, code, made, dialect):
    assert cuts.maker(op(name, code, fresh=True), dialect) == made
    assert cuts.maker(op(name, code), dialect) == ""
