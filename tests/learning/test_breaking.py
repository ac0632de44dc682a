"""Every bugged twin is one line away from its agent, and whygrad names what was broken."""

from __future__ import annotations

import ast
import json

import pytest
from tests.learning.loading import whygrad as run_whygrad

from whygrad.cli import shelf
from whygrad.rules.table import RULES

BREAKS = [(name, rule) for name, agent in shelf.agents().items() for rule in agent.breaks]


@pytest.mark.parametrize(("name", "rule"), BREAKS)
def test_a_break_changes_one_line_of_the_file(name, rule):
    agent = shelf.agent(name)
    broken = agent.broken(rule)
    text, line = broken.apply(agent.text)
    before, after = agent.text.splitlines(), text.splitlines()
    ast.parse(text)
    assert after[line - 1].strip() == broken.new
    assert len(before) == len(after)
    assert [a for a in before if a.strip() != broken.old] == [a for a in after if a.strip() != broken.new]
    assert rule in RULES


@pytest.mark.parametrize(("name", "rule"), BREAKS)
def test_whygrad_names_what_was_broken(name, rule, tmp_path):
    done = run_whygrad("train", name, "--break", rule, "--out", tmp_path / "run", cwd=tmp_path)
    findings = json.loads((tmp_path / "run" / "report.json").read_text())["findings"]
    assert rule in [finding["rule"] for finding in findings], done.stderr
    assert f"it was found: {rule}" in done.stderr


def test_the_seeds_faults_are_all_there():
    have = {rule for _, rule in BREAKS}
    seeds = {"target-leak", "surrogate-missing", "detached", "loss-independent", "stale-optimizer"}
    assert seeds | {"clip-before-backward", "target-never-synced", "outside-tape"} <= have
