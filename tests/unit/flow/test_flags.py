"""Is a variable read? Is a network asked?"""

import textwrap

import pytest

from whygrad.flow.flags import is_read
from whygrad.flow.syncs import asked_by


@pytest.fixture
def script(tmp_path):
    def write(text):
        path = tmp_path / "train.py"
        path.write_text(textwrap.dedent(text))
        return str(path)

    return write


@pytest.mark.parametrize(
    ("body", "read"),
    [
        ("s, r, d = batch\n    y = r + 0.9 * v(s)", False),
        (
            "s, r, d = batch\n    d = torch.tensor(d, device=device).unsqueeze(1)\n    y = r + 0.9 * v(s)",
            False,
        ),
        ("s, r, d = batch\n    y = r + 0.9 * v(s) * (1 - d)", True),
        ("s, r, d = batch\n    keep = d == 0\n    y = r\n    y[keep] += v(s)", True),
        ("s, r, d = batch\n    y = ends(r, d)", True),
        ("s, r, d = batch\n    y = forgets(r, d)", False),
        ("s, r, d = batch\n    y = forgets(r, tf.constant(d, tf.float32))", False),
        ("s, r, d = batch\n    y = ends(r, tf.constant(d, tf.float32))", True),
        ("s, r, d = batch\n    y = forgets(r, 1 - d)", True),
        ("s, r, d = batch\n    y = r + v(s)\n    return float(d.mean()), len(d)", False),
        ("s, r, d = batch\n    y = r + v(s) * np.sum(1 - d)", True),
        ("d = []\n    for one in batch:\n        d.append(one[2])\n    y = forgets(r, np.array(d))", False),
        ("r, d = batch\n    for one, end in zip(r, reversed(d)):\n        y = one + v(s)", False),
        ("r, d = batch\n    for one, end in zip(r, reversed(d)):\n        y = one + v(s) * (1 - end)", True),
        ("s, r, d = batch\n    for i in range(8):\n        if not d[i]:\n            r[i] += v(s)", True),
    ],
)
def test_reading(script, body, read):
    file = script(
        f"def ends(r, d):\n    return r * (1 - d)\ndef forgets(r, d):\n    return r\ndef update(batch):\n    {body}\n"
    )
    assert is_read(file, 6, "d") is read


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("y = data.rewards\n", False),
        ("y = 1\ndef f(data):\n    return 1 - data.dones\n", True),
        ("y = 1\nz = data['dones']\n", True),
    ],
)
def test_a_field_is_looked_for_in_the_whole_file(script, text, read):
    assert is_read(script(text), 1, "data.dones") is read


def test_a_variable_of_the_file_may_be_read_in_its_functions(script):
    assert is_read(script("action = draw()\ndef update():\n    return q.gather(1, action)\n"), 1, "action")
    assert not is_read(script("done = draw()\ndef update():\n    return 1\n"), 1, "done")


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("self.old.load_state_dict(self.q.state_dict())\n", False),
        ("for p, t in zip(self.q.parameters(), self.old.parameters()):\n    t.copy_(p)\n", False),
        ("self.old(tf.zeros((1, 4)))\n", False),
        ("a = self.old(s)\n", True),
        ("a = self.old.predict(s)\n", True),
        ("evaluate(agent.old)\n", True),
        ("score = evaluate(agent.old)\n", True),
        ("loss = td(q, old)\ndef td(q, old):\n    return q(s)\n", False),
        ("loss = td(q, old)\ndef td(q, old):\n    return old(s)\n", True),
    ],
)
def test_asking(script, text, asked):
    assert asked_by(script(text), "agent.old", frozenset()) is asked


@pytest.mark.parametrize(
    ("body", "read"),
    [
        ("for s, r, d in batch:\n        y = r + v(s)", False),
        ("for i, (s, r, d) in enumerate(batch):\n        y[i] = r + v(s)", False),
        ("x = [row[0] for row in batch]\n    for s, r, d in batch:\n        y = r + v(s)", False),
        ("x = [row[2] for row in batch]\n    for s, r, d in batch:\n        y = r + v(s)", True),
        ("for s, r, d in batch:\n        y = r if d else r + v(s)", True),
        ("for i, (s, r, d) in enumerate(batch):\n        y[i] = r + v(s) * (1 - d)", True),
        ("for s, *rest in batch:\n        y = v(s)", True),
        ("for row in batch:\n        y = ends(row)", True),
        ("s, r, d = zip(*batch)\n    for a, b, c in batch:\n        y = v(a)", True),
        ("y = [r + v(s) for s, r, d in batch]", False),
        ("y = [r + v(s) * d for s, r, d in batch]", True),
        ("for s, r, d in batch:\n        y = r + v(s)\n    print(len(batch))", False),
        ("learn(batch)", True),
    ],
)
def test_a_place_in_the_rows_of_a_batch(script, body, read):
    assert is_read(script(f"def learn(batch):\n    {body}\n"), 2, "batch[2]") is read
