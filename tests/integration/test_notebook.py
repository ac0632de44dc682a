"""``%%whygrad`` in a real kernel."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.long, pytest.mark.torch]

NETWORKS = """
import torch
from torch import nn
actor, critic = nn.Linear(3, 2), nn.Linear(2, 1)
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], 1e-3)

def loss_of(state):
    action = actor(state).detach()
    return -critic(action).mean()
""".strip()
TRAINS = """
%%whygrad
for _ in range(12):
    loss = loss_of(torch.randn(8, 3))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
done = 7
""".strip()


@pytest.fixture(scope="module")
def cells():
    """What the cells of a notebook show, as (kind, text)."""
    import nbclient
    import nbformat

    sources = [
        "%load_ext whygrad",
        NETWORKS,
        TRAINS,
        "print(done)",
        "%%whygrad --evry 3\nx = 1",
        "%%whygrad\n\n1 / 0",
        "%%whygrad\ndef :",
    ]
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(source) for source in sources]
    nbclient.NotebookClient(notebook, allow_errors=True, timeout=300).execute()
    return [[(o.output_type, shown(o)) for o in cell.outputs] for cell in notebook.cells]


def shown(output) -> str:
    return output.get("text") or output.get("ename") or output["data"]["text/html"]


def test_below_the_cell_stands_what_was_found(cells):
    ((kind, html),) = cells[2]
    assert kind == "display_data"
    assert "1 error in this cell (12 updates" in html
    assert "actor gets no gradient: cut by .detach()" in html
    assert "cell 2, line 7" in html and "cell 3, line 3" in html  # as the owner counts
    assert "ipykernel" not in html


def test_the_cell_runs_where_all_cells_run(cells):
    assert cells[3] == [("stream", "7\n")]


def test_wrong_options_are_one_sentence(cells):
    ((_, text),) = cells[4]
    assert text == "whygrad: %%whygrad [--watch] [--every N] [--out DIR]: unrecognized arguments: --evry 3\n"


def test_what_the_cell_raises_is_shown_once(cells):
    (_, error), (kind, html) = cells[5]
    assert (error, kind) == ("ZeroDivisionError", "display_data")
    assert "stopped with ZeroDivisionError at cell 6, line 3" in html
    assert [text for _, text in cells[6]] == ["SyntaxError"]
