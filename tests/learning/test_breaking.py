"""Every bugged twin is one line away from its agent, and whygrad names what was broken."""

from __future__ import annotations

import ast
import json

import pytest
from tests.choosing import mostly_long, selected
from tests.docs.running import Job, run_all
from tests.learning.loading import whygrad as run_whygrad

from whygrad.rules.table import RULES
from whygrad.zoo import catalogue as shelf

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


EVERYDAY = {next(row for row in BREAKS if row[0] == name) for name in ("dqn", "dqn_keras")}


def framework(name):
    """The one to have loaded; nothing for an agent that has to be in a process of its own from the start."""
    text = shelf.agent(name).text
    alone = "tf_agents" in text or "import jax" in text
    return "torch" if "import torch" in text else "" if alone else "tensorflow"


@pytest.fixture(scope="module")
def trained(tmp_path_factory, request):
    """The folder of every bugged twin that is asked for, and what whygrad said; most run in forks of one process."""
    jobs = {}
    for name, rule in selected(request, "name", "rule"):
        folder = tmp_path_factory.mktemp(f"{name}-{rule}")
        jobs[name, rule] = Job(folder, f"whygrad train {name} --break {rule} --out run", framework(name))
    forked = {key: job for key, job in jobs.items() if job.framework}
    said = {key: d.stderr for key, d in zip(forked, run_all(list(forked.values())), strict=True)}
    for key, job in jobs.items():
        if not job.framework:
            said[key] = run_whygrad(*job.command.split()[1:], cwd=job.folder).stderr
    return {key: (job.folder, said[key]) for key, job in jobs.items()}


@pytest.mark.parametrize(("name", "rule"), mostly_long(BREAKS, EVERYDAY.__contains__))
def test_whygrad_names_what_was_broken(name, rule, trained):
    folder, said = trained[name, rule]
    findings = json.loads((folder / "run" / "report.json").read_text())["findings"]
    assert rule in [finding["rule"] for finding in findings], said
    assert f"it was found: {rule}" in said


def test_the_seeds_faults_are_all_there():
    have = {rule for _, rule in BREAKS}
    seeds = {"target-leak", "surrogate-missing", "detached", "loss-independent", "stale-optimizer"}
    assert seeds | {"clip-before-backward", "target-never-synced", "outside-tape"} <= have
