"""A bias is no sum of the user's; an operation that adds up many is one."""

from tests.unit.flow.build import Build

from whygrad.flow.layers import adds_bias
from whygrad.flow.sums import Parts
from whygrad.model import Flow


def test_the_bias_of_a_layer():
    run = Build()
    net = run.network("q")
    kernel, bias = (run.op("read", op) for op in net.ops)
    product = run.op("mat_mul", run.data(), kernel)
    layer, plain = run.op("add", product, bias), run.op("add", product, run.data())
    flow = Flow(run.ops)
    assert adds_bias(flow, flow[layer]) and not adds_bias(flow, flow[plain])
    assert [a.op for a in Parts(flow).addends(layer)] == [layer]


def test_a_temperature_that_is_added_is_no_bias():
    run = Build()
    net, alpha = run.network("q"), run.network("alpha", ())
    total = run.op("add", run.op("mean", run.call(net)), alpha.ops[0])
    flow = Flow(run.ops)
    assert not adds_bias(flow, flow[total])


def test_many_addends_in_one_operation():
    run = Build()
    values = [run.call(run.network(name)) for name in "abc"]
    parts = Parts(Flow({**run.ops, **{}}))
    total = run.op("add", *values)
    parts = Parts(Flow(run.ops))
    assert {(a.op, a.sign) for a in parts.addends(total, -1)} == {(v, -1) for v in values}


def test_a_variable_is_not_what_was_assigned_to_it():
    run = Build()
    q, target = run.network("q"), run.network("target")
    written = run.op("assign", run.op("read", q.ops[0]), carries=False)
    read = run.op("read", target.ops[0], written)
    assert Parts(Flow(run.ops)).behind(read) == {run.ops[target.ops[0]].parameter}
