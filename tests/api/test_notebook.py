"""A notebook: cells that share their globals, ``_`` and ``Out``, and a file that does not exist."""

import linecache

import pytest

import whygrad
from whygrad.api import current


@pytest.fixture
def cell():
    """Run a cell as ipykernel does; all cells share one namespace."""
    scope = {"__name__": "__main__", "_": None, "Out": {}}
    number = iter(range(1, 100))

    def run(code):
        name = f"/tmp/ipykernel_7/{next(number)}.py"
        linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
        exec(compile(code, name, "exec"), scope)
        return scope

    return run


def test_a_cell_is_recorded_under_the_users_names(cell):
    scope = cell(
        "import torch, whygrad\nactor = torch.nn.Linear(3, 2)\nscale = torch.nn.Parameter(torch.ones(1))\n"
    )
    scope["_"] = scope["_2"] = scope["Out"][2] = scope["actor"]  # the cell showed the actor
    scope = cell(
        "optimizer = torch.optim.SGD([*actor.parameters(), scale], lr=0.1)\n"
        "with whygrad.watching() as run:\n"
        "    for _ in range(3):\n"
        "        loss = actor(torch.ones(1, 3)).detach().sum() * scale\n"
        "        optimizer.zero_grad(); loss.backward(); optimizer.step()\n"
    )
    (finding,) = scope["run"].findings
    assert finding.subjects == ("actor.weight", "actor.bias")
    assert (finding.rule, finding.site.line) == ("detached", 4)
    assert "1 error in this cell" in scope["run"]._repr_html_().replace("<b>", "")
    assert "actor(torch.ones(1, 3))" in scope["run"]._repr_html_()


def test_a_cell_that_raises_leaves_nothing_behind(cell, untouched):
    with pytest.raises(ZeroDivisionError):
        cell("import whygrad\nwith whygrad.watching() as run:\n    1 / 0\n")
    assert current.registry() is None


def test_the_question_in_a_cell(cell):
    scope = cell(
        "import torch, whygrad\nactor = torch.nn.Linear(3, 2)\n"
        "with whygrad.watching():\n"
        "    loss = actor(torch.ones(1, 3)).detach().sum()\n"
        "    found = whygrad.explain(loss, actor)\n"
    )
    assert isinstance(scope["found"], whygrad.api.Findings)
    assert "cut here" in scope["found"]._repr_html_()
