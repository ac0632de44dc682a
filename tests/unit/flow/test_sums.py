"""Taking values apart, the source of syncs, and who trains whom."""

from dataclasses import replace

import pytest
from tests.unit.flow.build import Build

from whygrad.flow.gradient_map import gradient_maps
from whygrad.flow.naming import home, term_names
from whygrad.flow.situation import Situation
from whygrad.flow.sums import Parts
from whygrad.flow.syncs import called_names, untaken_sync
from whygrad.model import Flow, Site


def test_addends_keep_sign_discount_and_life():
    run = Build()
    net = run.network("v")
    ahead, here, reward = run.call(net, line=1), run.call(net, line=2), run.data()
    discounted = run.op("mul", run.op("detach", ahead, carries=False), numbers=(0.99,))
    delta = run.op("sub", run.op("add", reward, discounted), here)
    found = {a.op: a for a in Parts(Flow(run.ops)).addends(delta)}
    assert (found[ahead].sign, found[ahead].discounted, found[ahead].live) == (1, True, False)
    assert (found[here].sign, found[here].discounted, found[here].live) == (-1, False, True)
    assert found[reward].data


def test_a_factor_before_the_whole_is_no_discount():
    run = Build()
    net = run.network("v")
    value = run.call(net)
    half = run.op("mul", run.op("sub", value, run.data()), numbers=(0.5,))
    (addend,) = [a for a in Parts(Flow(run.ops)).addends(half) if not a.data]
    assert not addend.discounted


@pytest.mark.parametrize(("name", "sign"), [("sub", 1), ("__isub__", 1), ("rsub", -1), ("__rsub__", -1)])
def test_a_number_that_comes_first_keeps_its_sign(name, sign):
    run = Build()
    value = run.call(run.network("v"))
    addends = Parts(Flow(run.ops)).addends(run.op(name, value, numbers=(1.0,)))
    assert {a.data: a.sign for a in addends} == {False: sign, True: -sign}


@pytest.mark.parametrize(("name", "deeper"), [("div", True), ("true_divide", True), ("__rdiv__", False)])
def test_what_divides_a_number_is_no_part_of_the_sum(name, deeper):
    run = Build()
    value = run.call(run.network("v"))
    (addend,) = Parts(Flow(run.ops)).addends(run.op(name, value, numbers=(2.0,)))
    assert (addend.op == value) is deeper


@pytest.mark.parametrize("pick", ["__getitem__", "index_select", "strided_slice", "unpack"])
def test_two_parts_of_one_value_do_not_cancel(pick):
    run = Build()
    values = run.call(run.network("v"))
    here, ahead = run.op(pick, values, line=2), run.op(pick, values, line=3)
    addends = Parts(Flow(run.ops)).addends(run.op("sub", here, ahead))
    assert {(a.value, a.sign) for a in addends} == {(here, 1), (ahead, -1)}


def test_behind_stops_at_choices_and_data():
    run = Build()
    one, two = run.network("one"), run.network("two")
    choice = run.op("argmax", run.call(one), carries=False, floating=False)
    picked = run.op("gather", run.call(two), choice)
    assert Parts(Flow(run.ops)).behind(picked) == two.keys


def test_a_sync_in_a_function_that_nobody_calls(tmp_path):
    file = tmp_path / "train.py"
    file.write_text(
        "def sync():\n    target.load_state_dict(q.state_dict())\n\nfor i in range(3):\n    step()\n"
    )
    assert not untaken_sync(str(file), frozenset())
    file.with_name("other.py").write_text(file.read_text() + "    if i > 99:\n        sync()\n")
    assert untaken_sync(str(file.with_name("other.py")), frozenset())


@pytest.mark.parametrize(
    ("body", "is_sync"),
    [
        ("target.load_state_dict(target.state_dict())", False),
        ("self.target.set_weights(self.target.get_weights())", False),
        ("target.load_state_dict(q.state_dict())", True),
        ("lagged = copy.deepcopy(q)", False),
        ("self.lagged = copy.deepcopy(q)", True),
        ("lagged = copy.deepcopy(q); return lagged", True),
        ("global lagged; lagged = copy.deepcopy(q)", True),
        ("for t, p in pairs: t = 0.1 * p + 0.9 * t", False),
        ("for t, p in pairs: t.data = 0.1 * p + 0.9 * t", True),
        ("for t, p in pairs: t.sub_(0.1 * (t - p))", True),
        ("for t, p in pairs: t[:] = p", True),
    ],
)
def test_a_call_that_changes_nothing_is_no_sync(tmp_path, body, is_sync):
    file = tmp_path / "train.py"
    file.write_text(f"def soft_update():\n    {body}\n\nfor i in range(3):\n    soft_update()\n")
    assert untaken_sync(str(file), frozenset()) == (2 if is_sync else None)


def test_a_helper_of_another_file_goes_by_its_name(tmp_path):
    file = tmp_path / "train.py"
    file.write_text("for i in range(3):\n    if i > 99:\n        utils.soft_update(q, target)\n")
    assert untaken_sync(str(file), frozenset()) == 3


def test_loading_the_state_of_an_optimizer_is_no_sync(tmp_path):
    file = tmp_path / "train.py"
    file.write_text("def resume():\n    optimizer.load_state_dict(saved)\n\nif again:\n    resume()\n")
    assert untaken_sync(str(file), frozenset())
    assert not untaken_sync(str(file), frozenset(), frozenset({"optimizer"}))


def test_a_batch_of_targets_split_into_minibatches_is_still_a_sum():
    run = Build()
    net = run.network("v")
    ahead, reward = run.call(net), run.data()
    targets = run.op("add", reward, run.op("mul", ahead, numbers=(0.99,)))
    found = {a.op: a for a in Parts(Flow(run.ops)).addends(run.op("split", targets))}
    assert found[ahead].discounted and found[reward].data


def test_called_names(tmp_path):
    file = tmp_path / "train.py"
    file.write_text("y = r + gamma * self.target(s2).max(1)[0]\n")
    assert "target" in called_names(str(file), 1)


def test_terms_have_the_users_names(tmp_path):
    file = tmp_path / "train.py"
    file.write_text("policy_loss = f(a)\nloss = policy_loss - 0.01 * dist.entropy().mean()\n")
    run = Build(file=str(file))
    net = run.network("net")
    first = run.op("mean", run.call(net), line=1)
    second = run.op("mean", run.call(net), line=2)
    loss = run.op("sub", first, run.op("mul", second, numbers=(0.01,), line=2), line=2)
    named = term_names(Flow(run.ops), (loss,), [run.ops[first], run.ops[second]])
    assert named == ["policy_loss", "0.01 * dist.entropy().mean()"]


def test_two_terms_of_one_line_are_told_apart_by_the_formula(tmp_path):
    file = tmp_path / "train.py"
    file.write_text("loss = -(f(a) * adv).mean() + 0.5 * (r - v).pow(2).mean()\n")
    run = Build(file=str(file))
    net = run.network("net")
    value = run.op("mean", run.call(net), line=1)  # a graph may list them in any order
    policy = run.op("mean", run.call(net), line=1)
    scaled = run.op("mul", value, numbers=(0.5,), line=1)
    loss = run.op("add", run.op("neg", policy, line=1), scaled, line=1)
    named = term_names(Flow(run.ops), (loss,), [run.ops[value], run.ops[policy]])
    assert named == ["0.5 * (r - v).pow(2).mean()", "(f(a) * adv).mean()"]


def test_terms_of_a_loop_are_counted(tmp_path):
    file = tmp_path / "train.py"
    file.write_text("losses.append(f(head).mean())\nloss = sum(losses)\n")
    run = Build(file=str(file))
    net = run.network("net")
    one, two = (run.op("mean", run.call(net), line=1) for _ in range(2))
    loss = run.op("add", one, two, line=2)
    named = term_names(Flow(run.ops), (loss,), [run.ops[one], run.ops[two]])
    assert named == ["f(head).mean() #1", "f(head).mean() #2"]


def test_a_term_of_a_library_has_the_words_and_the_line_of_the_user(tmp_path):
    library = tmp_path / "site-packages" / "lib.py"
    library.parent.mkdir()
    library.write_text("gain = g(x)\n")
    file = tmp_path / "train.py"
    file.write_text("loss = out['loss_objective'] + out['loss_critic']\n")
    run = Build(file=str(file))
    net = run.network("net")
    ops = [run.op("mean", run.call(net), line=1) for _ in range(2)]
    for op in ops:
        inside = Site.read(str(library), 1)
        run.ops[op] = replace(run.ops[op], site=inside, callers=(run.site(1),))
    loss = run.op("add", *ops, line=1)
    named = term_names(Flow(run.ops), (loss,), [run.ops[op] for op in ops])
    assert named == ["out['loss_objective']", "out['loss_critic']"]
    assert home(run.ops[ops[0]]) == run.site(1)


def test_who_trains_whom():
    run = Build()
    actor, critic = run.network("actor"), run.network("critic")
    optimizer = run.optimizer("opt", actor, critic)
    policy = run.op("mean", run.call(actor, line=5), line=6)
    value = run.op("mean", run.call(critic, line=7), line=8)
    loss = run.op("add", policy, value, line=9)
    shares = {policy: dict.fromkeys(actor.keys, 2.0), value: dict.fromkeys(critic.keys, 8.0)}
    run.update(optimizer, run.backward(loss, line=10, shares=shares))
    (found,) = gradient_maps(Situation(run.evidence()))
    rows = {
        t.site.line: {c.network: (c.reached, c.share, c.applied) for c in t.networks} for t in found.terms
    }
    assert rows[6] == {"actor": (True, 1.0, ("opt",)), "critic": (False, None, ())}
    assert rows[8] == {"actor": (False, None, ()), "critic": (True, 1.0, ("opt",))}


def test_a_share_that_was_not_measured_says_so():
    run = Build()
    net = run.network("net")
    optimizer = run.optimizer("opt", net)
    loss = run.op("add", run.op("mean", run.call(net), line=6), run.op("mean", run.call(net), line=7), line=9)
    run.update(optimizer, run.backward(loss, line=10, unmeasured="hooks would have run twice"))
    (found,) = gradient_maps(Situation(run.evidence()))
    assert found.unmeasured == "hooks would have run twice"
    assert {c.share for t in found.terms for c in t.networks} == {None}
