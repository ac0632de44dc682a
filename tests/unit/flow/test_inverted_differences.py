"""Ends in a temporal difference of plain numbers: where are they, and are they turned round?"""

import pytest

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
