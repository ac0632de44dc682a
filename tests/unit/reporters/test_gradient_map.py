"""The small table."""

from whygrad.model import GradientMap, LossTerm, Reached, Site
from whygrad.reporters import gradient_map
from whygrad.reporters.json_report import parse, render
from whygrad.reporters.style import Style


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
    head, policy, value = gradient_map.lines(maps(), Style(False), 88)
    assert head.split() == ["who", "trains", "whom", "actor", "trunk", "critic"]
    assert policy.split() == ["policy_loss", ":4", "opt", "100", "%", "25", "%", "·"]
    assert value.split() == ["value_loss", ":5", "opt", "-", "75", "%", "-"]


def test_one_loss_and_one_network_need_no_table():
    lone = GradientMap("opt", None, (LossTerm("loss", None, (Reached("net", True, 1.0, ("opt",)),)),))
    assert gradient_map.lines((lone,), Style(False), 88) == []


def test_it_fits_the_width():
    assert all(len(line) <= 60 for line in gradient_map.lines(maps(), Style(False), 60))


def test_json_and_back(run):
    from dataclasses import replace

    mapped = replace(run, gradient_map=maps())
    assert parse(render(mapped)).gradient_map == maps()
