"""What stands at one place of all rows of a batch."""

from collections import deque, namedtuple

from whygrad.frameworks.shared.rows import columns


class Agent:
    def __init__(self, rows):
        self.memory = deque(rows)


def rows(*dones):
    return [(object(), 1, 0.5, object(), done) for done in dones]


def test_the_memory_is_looked_at_with_the_batch():
    found = dict(columns({"self": Agent(rows(False, True)), "batch": rows(False, False)}))
    assert found == {"batch[1]": [1] * 4, "batch[2]": [0.5] * 4, "batch[4]": [False, False, False, True]}


def test_a_memory_of_other_rows_is_not():
    found = dict(columns({"self": Agent([(1, 2), (3, 4)]), "batch": rows(False, False)}))
    assert found["batch[4]"] == [False, False]


def test_named_tuples_have_names():
    row = namedtuple("row", ["state", "done"])
    assert dict(columns({"batch": [row(object(), True), row(object(), False)]})) == {
        "batch.done": [True, False]
    }


def test_lists_of_anything_else_are_no_batch():
    assert not list(columns({"a": [1, 2], "b": [(1, 2), 3], "c": [(1, 2), (1, 2, 3)], "d": ()}))
