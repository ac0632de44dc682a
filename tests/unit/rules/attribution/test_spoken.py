"""Operations as people write them: TensorFlow's names are read in the line, PyTorch's are known."""

import pytest

from whygrad.model import Op, Site
from whygrad.rules.attribution import cuts


def op(name, code="", **more):
    return Op(id=1, name=name, site=Site("/home/me/train.py", 4, "update", code), **more)


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("argmax", "a = tf.argmax(q, axis=1)", "tf.argmax"),
        ("argmax", "a = torch.argmax(q, 1)", "argmax"),
        ("argmax", "a = net_tf.argmax(q)", "argmax"),
        ("stop_gradient", "x = keras.ops.stop_gradient(y)", "keras.ops.stop_gradient"),
        ("stop_gradient", "x = frozen(y)", "tf.stop_gradient"),
        ("multinomial", "a = tf.random.categorical(logits, 1)", "tf.random.categorical"),
        ("top_k", "o = tf.argsort(scores)", "tf.argsort"),
        ("cast", "i = tf.cast(x, tf.int32)", "tf.cast"),
        ("round", "u = tf.math.round(x)", "tf.math.round"),
        ("detach", "x = y.detach()", ".detach()"),
    ],
)
def test_spoken(name, code, said):
    assert cuts.spoken(op(name, code)) == said


@pytest.mark.parametrize(
    ("name", "code", "made"),
    [
        ("tensor", "x = torch.tensor(n)", "torch.tensor"),
        ("constant", "x = tf.constant(n)", "tf.constant"),
        ("constant", "x = tf.convert_to_tensor(n)", "tf.convert_to_tensor"),
        ("constant", "x = y + n", ""),
        ("data", "x = y + n", ""),
    ],
)
def test_maker(name, code, made):
    assert cuts.maker(op(name, code, fresh=True)) == made
    assert cuts.maker(op(name, code)) == ""
