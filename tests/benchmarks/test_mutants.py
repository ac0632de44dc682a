"""A sample of mutants of healthy programs: what whygrad says of them. Draw another one by ``--mutants-seed N``.

The floor is well under the figure (benchmarks/README.md), so that no landing hangs on luck.
"""

from __future__ import annotations

from importlib.util import find_spec

import pytest
from mutants import table
from mutants.judging import same
from mutants.measuring import measure
from mutants.running import Runner
from mutants.sampling import selected

FLOOR = 0.3  # right rule


def frameworks():
    for name in ("torch", "tensorflow"):
        missing = pytest.mark.skipif(find_spec(name) is None, reason=f"needs {name}")
        yield pytest.param(name, marks=[pytest.mark.long, getattr(pytest.mark, name), missing])


@pytest.mark.parametrize("framework", list(frameworks()))
def test_most_faults_of_a_sample_are_named(framework, request, tmp_path, capsys):
    seed, count = (request.config.getoption(f"--mutants-{word}") for word in ("seed", "sample"))
    originals, drawn = selected(framework, ("programs",), count, seed)
    runner = Runner({framework}, 1, 120)
    try:
        verdicts = measure(drawn, originals, runner, tmp_path / "cache")
    finally:
        runner.close()
    with capsys.disabled():
        print(f"\nseed {seed}\n{table.of(verdicts)}")
    faulty = [verdict for verdict in verdicts if verdict.state == "faulty"]
    assert len(faulty) > count / 3
    assert sum(verdict.rule for verdict in faulty) >= FLOOR * len(faulty)
    assert not [v for v in verdicts if not v.operator and v.alarm], "a healthy program is silent"


def test_a_program_that_trains_alike_is_told_from_one_that_does_not():
    one = {"error": "", "weights": [[1.0, 2.0], [3.0, 4.0]]}
    assert same(one, {**one, "weights": [[1.0, 2.0 + 1e-9], [3.0, 4.0]]})
    assert same(one, {**one, "weights": [[1.0, 2.0], [9.0, 9.0], [3.0, 4.0]]})
    assert not same(one, {**one, "weights": [[1.0, 2.1], [3.0, 4.0]]})
    assert not same(one, {**one, "weights": [[3.0, 4.0], [1.0, 2.0]]})
    assert not same(one, {**one, "weights": [[float("nan"), 2.0], [3.0, 4.0]]})
    assert not same(one, {**one, "error": "ValueError"})
