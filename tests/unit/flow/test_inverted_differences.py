"""Ends in a temporal difference of plain numbers: where are they, and are they turned round?"""

import pytest

from whygrad.flow.carried_sums import unmasked_sum
from whygrad.flow.differences import direct_difference

TEXT = """\
def advantages(rewards, values, dones, gamma=0.99):
    found, running = [], 0.0
    for t in reversed(range(len(rewards))):
        {mask}
        delta = rewards[t] + gamma * values[t + 1] * {factor} - values[t]
        running = delta + gamma * 0.95 * running
        found.append(running)
    return found


def main():
    ends = collect()
    found = advantages(rewards, values, {given})
    loss = learn(found)
"""


@pytest.mark.parametrize(
    ("mask", "factor", "given", "found"),
    [
        ("pass", "dones[t]", "ends", (5, False)),
        ("pass", "(1 - dones[t])", "ends", (5, True)),
        ("mask = dones[t]", "mask", "ends", (4, False)),
        ("mask = 1.0 - dones[t]", "mask", "ends", (4, True)),
        ("pass", "other[t]", "ends", None),
        ("pass", "dones[t]", "others", None),
        ("pass", "dones[t]", "1 - ends", None),
        ("mask = turned(dones[t])", "mask", "ends", None),
    ],
)
def test_where_ends_are_a_factor(tmp_path, mask, factor, given, found):
    path = tmp_path / "train.py"
    path.write_text(TEXT.format(mask=mask, factor=factor, given=given))
    assert direct_difference(str(path), 14, "ends") == found


SUM = """\
def advantages(rewards, values, dones, gamma=0.99, lam=0.95):
    found, running = [], 0.0
    for t in reversed(range(len(rewards))):
        delta = rewards[t] + gamma * values[t + 1] * (1 - dones[t]) - values[t]
        {before}
        running = {running}
        found.append(running)
    return found


def main():
    ends = collect()
    loss = learn(advantages(rewards, values, ends))
"""


@pytest.mark.parametrize(
    ("before", "running", "found"),
    [
        ("pass", "delta + gamma * lam * running", (6, "(1 - dones[t])")),
        ("pass", "delta + 0.99 * 0.95 * running", (6, "(1 - dones[t])")),
        ("pass", "delta + gamma * lam * (1 - dones[t]) * running", None),
        ("mask = 1 - dones[t]", "delta + gamma * lam * mask * running", None),
        ("running = 0.0 if dones[t] else running", "delta + gamma * lam * running", None),
        ("running *= 1 - dones[t]", "delta + gamma * lam * running", None),
        ("running[dones[t]] = 0", "delta + gamma * lam * running", None),
        ("lam = decays[t]", "delta + gamma * lam * running", None),
        ("pass", "rewards[t] + gamma * running", None),
        ("pass", "delta", None),
    ],
)
def test_sums_that_go_on_across_ends(tmp_path, before, running, found):
    path = tmp_path / "train.py"
    path.write_text(SUM.format(before=before, running=running))
    assert unmasked_sum(str(path), 13, "ends") == found
    assert unmasked_sum(str(path), 13, "others") is None


def test_a_mask_for_all_environments_is_no_setting(tmp_path):
    path = tmp_path / "train.py"
    path.write_text("""\
def scan(rewards, values, mask, gamma, lam):
    running = 0.0
    for t in reversed(range(8)):
        delta = rewards[t] + gamma * values[t + 1] * mask - values[t]
        running = delta + gamma * lam * mask * running
    return running
""")
    assert unmasked_sum(str(path), 6, "mask") is None
