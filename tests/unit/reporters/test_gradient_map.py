"""The small table."""

from whygrad.model import GradientMap, LossTerm, Reached, Site
from whygrad.reporters import gradient_map
from whygrad.reporters.json_report import parse, render
from whygrad.reporters.style import Style
from whygrad.reporters.who import rows, share


def maps():
    policy = LossTerm(
        "policy_loss",
        Site("train.py", 4),
        (
            Reached("actor", True, 1.0, ("opt",)),
            Reached("trunk", True, 0.25, ("opt",)),
            Reached("critic", True),
        ),
    )
    value = LossTerm("value_loss", Site("train.py", 5), (Reached("trunk", True, 0.75, ("opt",)),))
    return (GradientMap("opt", Site("train.py", 6), (policy, value)),)


def test_shares_passing_and_nothing():
    head, policy, value, legend = gradient_map.lines(maps(), Style(False), 88)
    assert legend == "· gradient arrives, and no step uses it"
    assert head.split() == ["who", "trains", "whom", "actor", "trunk", "critic"]
    assert policy.split() == ["policy_loss", ":4", "opt", "100", "%", "25", "%", "·"]
    assert value.split() == ["value_loss", ":5", "opt", "-", "75", "%", "-"]


def test_one_loss_and_one_network_need_no_table():
    lone = GradientMap("opt", None, (LossTerm("loss", None, (Reached("net", True, 1.0, ("opt",)),)),))
    assert gradient_map.lines((lone,), Style(False), 88) == []


def test_it_fits_the_width():
    assert all(len(line) <= 60 for line in gradient_map.lines(maps(), Style(False), 60))


def wide(networks):
    cells = [Reached(f"learner.agent.{name}", True, 0.5, ("opt",)) for name in networks]
    terms = (LossTerm("one", None, tuple(cells[:2])), LossTerm("other", None, tuple(cells[2:])))
    return (GradientMap("opt", None, terms),)


def test_no_network_is_left_out_however_narrow_it_is():
    names = ("encoder", "policy", "value_one", "value_two", "temperature")
    shown = "\n".join(gradient_map.lines(wide(names), Style(False), 60))
    assert all(f"learner.agent.{name}" in shown for name in names)
    assert all(len(line) <= 60 for line in shown.splitlines())


def test_a_loss_that_two_optimizers_step_on_is_one_row():
    terms = (
        LossTerm("actor_loss", None, (Reached("actor", True, 1.0, ("a",)), Reached("critic", False))),
        LossTerm("critic_loss", None, (Reached("actor", False), Reached("critic", True, 1.0, ("b",)))),
    )
    both = [GradientMap(name, None, terms) for name in ("a", "b")]
    assert [(row.name, row.optimizers) for row in rows(both)] == [
        ("actor_loss", ("a",)),
        ("critic_loss", ("b",)),
    ]


def test_nothing_is_not_a_little():
    assert share(Reached("net", True, 0.0, ("opt",))) == "0 %"
    assert share(Reached("net", True, 0.001, ("opt",))) == "<1 %"


def test_json_and_back(run):
    from dataclasses import replace

    mapped = replace(run, gradient_map=maps())
    assert parse(render(mapped)).gradient_map == maps()
