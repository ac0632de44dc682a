"""Temporal differences in the source text: with a mask, or without."""

from __future__ import annotations

import pytest

from whygrad.flow.differences import unmasked_difference

LOOP = """\
def update(batch, done):
    adv = advantages(batch.r, batch.v, done)
    loss = adv.sum()

def advantages(r, v, done, gamma=0.99, lam=0.95):
    last, out = 0.0, []
    for t in reversed(range(len(r))):
        {statement}
        last = delta + gamma * lam * last
        out.append(last)
    return out
"""


@pytest.fixture
def script(tmp_path):
    def write(statement: str) -> str:
        file = tmp_path / "train.py"
        file.write_text(LOOP.format(statement=statement))
        return str(file)

    return write


@pytest.mark.parametrize(
    "statement",
    [
        "delta = r[t] + gamma * v[t + 1] - v[t]",
        "delta = r[t] - v[t] + 0.99 * v[t + 1]",
        "delta = -v[t] + (r[t] + gamma * v[t + 1] - v[t])",
    ],
)
def test_without_a_mask(script, statement):
    assert unmasked_difference(script(statement), 3) == 8


@pytest.mark.parametrize(
    "statement",
    [
        "delta = r[t] + gamma * v[t + 1] * (1 - done[t]) - v[t]",
        "delta = r[t] + gamma * done[t] * v[t + 1] - v[t]",
        "nv = 0.0 if done[t] else v[t + 1]; delta = r[t] + gamma * nv - v[t]",
        "delta = r[t] - v[t] if done[t] else 0.0",
        "delta = r[t] * gamma",
    ],
)
def test_with_a_mask_or_none_at_all(script, statement):
    assert not unmasked_difference(script(statement), 3)


def test_a_file_that_cannot_be_read():
    assert unmasked_difference("/nowhere/train.py", 3) is None
