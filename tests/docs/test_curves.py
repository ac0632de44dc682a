"""The learning curves on the agents' pages are drawn from the tables beside them."""

import pytest
from scripts import curves

PICTURES = curves.pictures()


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
def test_the_picture_is_that_of_the_tables(path):
    assert path.read_text(encoding="utf-8") == PICTURES[path], "run: python scripts/curves.py"
    assert f"]({path.name})" in path.with_suffix(".md").read_text(encoding="utf-8")


def test_no_picture_is_without_a_table():
    assert set(curves.AGENTS.glob("*.svg")) == PICTURES.keys()


def test_what_snake_writes_can_be_drawn(tmp_path):
    table = tmp_path / "snake-seed7.csv"
    table.write_text(
        "frame,episode,reward100,fruits100,epsilon\n1000,9,-9.8,0.14,0.5\n30000,90,43.5,6.21,0.01\n"
    )
    picture = curves.draw("snake", curves.tables(tmp_path)["snake"])
    assert "seed 7" in picture and "fruit in a training game" in picture and "0 frames" in picture
