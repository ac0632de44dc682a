"""What the source text says about where a value came from."""

import textwrap

import pytest

from whygrad.flow.source import assignments_to, feeding_lines

SCRIPT = """\
    def returns(rewards):
        total = 0.0
        for r in rewards:
            total = r + total
        return total

    def update(model, batch):
        logits = model(batch.states)
        picked = [p.item() for p in logits]
        unrelated = model.count.item()
        scores = []
        for p in picked:
            scores.append(p * 2)
        loss = torch.tensor(scores).mean() + returns(batch.rewards)
        loss.backward()

    class Agent:
        def reset(self):
            self.model = build()

    model = build()
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "train.py"
    path.write_text(textwrap.dedent(SCRIPT))
    return str(path)


def test_assignments_loops_and_appends_are_followed(file):
    lines = feeding_lines(file, 14)
    # the statement itself, the list that it reads, the loop that filled it, and where that came from
    assert {14, 13, 9, 8} <= lines.keys()
    assert lines[14] == 0 < lines[13] < lines[9] <= lines[8]


def test_what_does_not_flow_in_is_left_out(file):
    assert 10 not in feeding_lines(file, 14)


def test_functions_of_the_same_file_are_followed(file):
    assert {5, 4} <= feeding_lines(file, 14).keys()


def test_every_assignment_to_a_name(file):
    assert assignments_to(file, "model") == [(19, "reset"), (21, "<module>")]


def test_no_source_no_answer(tmp_path):
    assert feeding_lines(str(tmp_path / "nothing.py"), 3) == {}
    broken = tmp_path / "broken.py"
    broken.write_text("def (:\n")
    assert feeding_lines(str(broken), 1) == {}
    assert assignments_to(str(broken), "x") == []
