"""A few operations of each line."""

from whygrad.flow.few import few_per_line
from whygrad.model import Op, Site

LINE = Site("train.py", 26, "call", "return v + a - tf.reduce_mean(a)")


def test_the_passes_that_act_do_not_hide_the_one_that_trains():
    acting = [Op(n, "mean", shape=(1, 2), site=LINE) for n in range(1, 9)]
    trains = Op(9, "mean", shape=(32, 2), site=LINE, carries=True)
    assert [op.id for op in few_per_line([*acting, trains])] == [1, 2, 3, 9]
