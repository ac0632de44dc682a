"""Source text: what is not changed stays to the byte."""

import pytest

cst = pytest.importorskip("libcst")

from whygrad.fixing import edits, scopes  # noqa: E402
from whygrad.fixing.diffs import unified  # noqa: E402
from whygrad.fixing.source import Source, Unreadable  # noqa: E402

ODD = [
    b"x = 1\r\ny = f(x).detach()  # why\r\n\r\n",
    b"\xef\xbb\xbfx = 1\ny = f(x).detach()  # why",
    "# -*- coding: latin-1 -*-\nname = 'é'; y = f(x).detach()\n".encode("latin-1"),
    b"if x:\n\ty = f(x).detach()\n\n\n# the end\n",
    b"y = (\n    f(x)  # inside\n    .detach()\n)\n",
]


@pytest.mark.parametrize("data", ODD)
def test_what_is_not_changed_stays_to_the_byte(data):
    source = Source("train.py", data)
    assert source.changed({}) == data
    [call] = [n for n in source.within(source.module) if edits.called(n) == "detach"]
    changed = source.changed(edits.in_place_of(source, call, edits.owner(call)))
    assert (
        changed.replace(b"\r\n", b"\n")
        == data.replace(b"\r\n", b"\n").replace(b"\n    .detach()", b"").replace(b".detach()", b"")
        or b"  # inside" in data
    )
    assert changed.count(b"\r\n") == data.count(b"\r\n")
    assert changed[:3] == data[:3]


def test_a_file_that_is_no_python_says_so():
    with pytest.raises(Unreadable):
        Source("train.py", b"def f(:\n")


def test_a_line_belongs_to_its_innermost_statement():
    source = Source("t.py", b"with a:\n    x = f(\n        1)\n    y = 2\n@d\ndef g():\n    return 3\n")
    assert source.code(source.statement(3)).startswith("x = f(")
    assert isinstance(source.statement(1), cst.With)
    assert isinstance(source.statement(5), cst.FunctionDef)
    assert source.statement(70) is None


def test_brackets_are_put_where_they_are_needed():
    source = Source("t.py", b"y = g(float(a + b)) * float(a + b)\n")
    calls = [n for n in source.within(source.module) if edits.called(n) == "float"]
    changes = {}
    for call in calls:
        changes.update(edits.in_place_of(source, call, edits.positional(call)[0]))
    assert source.changed(changes) == b"y = g(a + b) * (a + b)\n"


def test_a_statement_that_goes_leaves_its_comments_and_its_block():
    source = Source("t.py", b"for x in y:\n    # above\n    a = 1\n    b = 2\nwhile z:\n    c = 3\n")
    assert b"# above\n    b = 2" in source.changed(edits.without(source, source.statement(3)))
    assert b"while z:\n    pass\n" in source.changed(edits.without(source, source.statement(6)))


def test_a_moved_statement_keeps_its_comment():
    source = Source("t.py", b"a()\nclip()  # small\nstep()\n")
    moved = edits.moved(source, source.statement(2), source.statement(3), below=True)
    assert source.changed(moved) == b"a()\nstep()\nclip()  # small\n"


def test_a_network_is_called_as_the_lines_around_call_it():
    text = b"class A:\n    def f(self):\n        x = self.critic(1)\n        y = 2\nagent = A()\nagent.critic(3)\n"
    source = Source("t.py", text)
    assert scopes.spoken(source, source.statement(4), "agent.critic") == "self.critic"
    assert scopes.spoken(source, source.statement(6), "agent.critic") == "agent.critic"
    assert scopes.spoken(source, source.statement(6), "actor") == ""


def test_a_value_that_nobody_reads_was_forgotten():
    source = Source("t.py", b"def f(a):\n    used = a\n    forgotten = a + 1\n    return used\n")
    assert scopes.unread(source, source.statement(4)) == ["forgotten"]


def test_a_diff_is_one_that_git_applies():
    assert unified({"a/t.py": b"x = 1\r\n"}, {"a/t.py": b"x = 2\r\n"}).splitlines()[:2] == [
        "--- a/a/t.py",
        "+++ b/a/t.py",
    ]
    assert "\\ No newline at end of file" in unified({"t.py": b"x = 1"}, {"t.py": b"x = 2"})
