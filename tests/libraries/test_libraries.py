"""Where people train: healthy programs over libraries are silent and unchanged, mistakes in them are found.

None of the libraries is needed by whygrad or by the other tests: `make libraries` installs them beside.
"""

import difflib

import pytest
from tests.libraries.measuring import HERE, LABELS, measure, missing


def each(kind):
    rows = []
    for label in LABELS:
        marks = [pytest.mark.torch, pytest.mark.long]
        if gone := missing(label):
            marks.append(pytest.mark.skip(reason=f"needs {', '.join(gone)}: make libraries installs them"))
        elif kind == "bad" and label["missed"]:
            marks.append(pytest.mark.xfail(reason=label["missed"], strict=True))
        rows.append(pytest.param(label, id=label["name"], marks=marks))
    return pytest.mark.parametrize("label", rows)


@each("good")
def test_a_healthy_program_is_silent_and_unchanged(label, tmp_path):
    got = measure(HERE / "good" / f"{label['name']}.py", tmp_path)
    assert got.silent, (got.report["verdict"], got.report["doubts"], got.report["findings"])
    assert got.equal, (got.plain, got.watched)


@each("bad")
def test_a_mistake_is_found(label, tmp_path):
    got = measure(HERE / "bad" / f"{label['name']}.py", tmp_path)
    assert got.equal, (got.plain, got.watched)
    assert got.found(label), [(f["rule"], f["title"]) for f in got.report["findings"]]
    assert got.at_the_line(label) or not label["line"], got.report["findings"]


@pytest.mark.parametrize("label", LABELS, ids=[label["name"] for label in LABELS])
def test_twins_differ_in_the_mistake_alone(label):
    good, bad = (HERE / kind / f"{label['name']}.py" for kind in ("good", "bad"))
    changed = [
        line
        for line in difflib.ndiff(good.read_text().splitlines(), bad.read_text().splitlines())
        if line[:2] in ("+ ", "- ") and line[2:].strip() and not line[2:].startswith('"""')
    ]
    assert 1 <= len(changed) <= 4, changed
