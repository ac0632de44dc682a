"""Scripts in the many styles that people write: each fault is named, each healthy program is left in peace."""

from pathlib import Path

import pytest
from tests.labelled import labels_in, run_all, troubles

HERE = Path(__file__).parent


@pytest.mark.parametrize("framework", ["torch", "tensorflow"])
def test_the_whole_corpus(framework, tmp_path):
    pytest.importorskip(framework)
    results = run_all(HERE, framework, tmp_path)
    wrong = [
        f"{label['file']}: {trouble}"
        for label in labels_in(HERE, framework)
        for trouble in troubles(label, *results[label["file"]])
    ]
    assert wrong == []
