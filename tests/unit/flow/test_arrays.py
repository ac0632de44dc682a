"""Arithmetic on arrays between a network and a loss, read in the source text."""

import textwrap

import pytest
from tests.unit.flow.build import Build

from whygrad.flow.situation import Situation
from whygrad.model import Kind

HEAD = "import numpy as np\nq, target = make(), make()\n"
STYLES = {
    "one line": "y = r + 0.9 * np.max(target.predict(s2), axis=1)\ntrain(y)",
    "names": "best = target.predict(s2)\nbest = best.max(axis=1)\ny = (r + gamma * best * (1 - d)).astype('f')\ntrain(y)",
    "an entry": "y = old\ny[rows, a] = r + 0.9 * np.amax(target.predict(s2), axis=1)\nq.fit(s, y, epochs=1)",
    "by keyword": "y = r + 0.9 * np.amax(target.predict(s2), axis=1)\nq.fit(s, y=y)",
    "a branch": """\
        best = target.predict(s2)
        if done:
            y = r
        else:
            y = r + 0.9 * np.amax(best[0])
        train(y)""",
    "lists": """\
        ahead = target.predict(s2)
        ys = []
        for row, reward in zip(ahead, r):
            ys.append(reward + 0.9 * np.max(row))
        train(np.array(ys))""",
    "a function": """\
        def ahead(states):
            best = target.predict(states)
            return np.max(best, axis=1)
        y = r + 0.9 * ahead(s2)
        train(y)""",
}


def regression(tmp_path, text):
    """A loss on the last line, whose target is data; the line of ``predict`` has given an array."""
    text = HEAD + textwrap.dedent(text) + "\n"
    path = tmp_path / "train.py"
    path.write_text(text)
    run = Build(str(path))
    q, target = run.network("q", line=2), run.network("target", line=2, moved=False, trained=False)
    lines = text.splitlines()
    left = next(n for n, line in enumerate(lines, 1) if "predict" in line)
    exits = (run.op("predict", *target.ops, line=left, left=True, carries=False, kind=Kind.PREDICT),)
    entered = run.data(line=len(lines), shape=(8,))
    loss = run.op("mse_loss", run.call(q, line=len(lines)), entered, line=len(lines))
    run.loose.append(run.backward(loss, line=len(lines), exits=exits))
    return run, q, target


@pytest.mark.parametrize("style", STYLES)
def test_the_target_network_behind_an_array(tmp_path, style):
    run, q, target = regression(tmp_path, STYLES[style])
    situation = Situation(run.evidence())
    (backward,) = situation.backwards
    (boot,) = situation.bootstraps(backward)
    parts = situation.parts(backward)
    assert parts.behind(boot.value.op) == target.keys
    assert {k for p in boot.predictions for k in parts.behind(p.op)} == q.keys


@pytest.mark.parametrize(
    "text",
    [
        "acted = target.predict(s)\ny = rewards\ntrain(y)",
        "acted = np.argmax(target.predict(s))\ny = r[acted]\ntrain(y)",
    ],
)
def test_an_array_that_is_made_of_something_else(tmp_path, text):
    run, _, _ = regression(tmp_path, text)
    situation = Situation(run.evidence())
    assert situation.bootstraps(situation.backwards[0]) == []
    assert situation.parts(situation.backwards[0]).flow is situation.backwards[0].flow
