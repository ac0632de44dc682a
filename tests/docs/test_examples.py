"""The examples on the rule pages are true: whygrad finds the bad one and stays silent on the good one.

And the sample on each page is what it says to the bad one.
"""

from pathlib import Path

import pytest
from tests.choosing import mostly_long, selected
from tests.docs import examples, running

from whygrad.rules.table import RULES

pytestmark = [
    pytest.mark.skipif(not running.HERE, reason="needs PyTorch and TensorFlow"),
]

SLUGS = mostly_long(RULES, {"detached", "target-leak", "outside-tape"}.__contains__)
SAMPLES = Path(__file__).parents[2] / "docs" / "rules" / "samples"


@pytest.fixture(scope="module")
def seen(tmp_path_factory, request):
    """What came of every example that is asked for."""
    return examples.run_all(tmp_path_factory.mktemp("examples"), slugs=selected(request, "slug"))


@pytest.mark.parametrize("slug", SLUGS)
def test_the_bad_example_is_found(slug, seen):
    found = {f["rule"]: f["severity"] for f in seen[slug, "bad"].report["findings"]}
    assert found.get(slug) in ("error", "warning"), found


@pytest.mark.parametrize("slug", SLUGS)
def test_the_sample_on_the_page_is_what_is_said(slug, seen):
    said = examples.sample(slug, seen[slug, "bad"].output)
    shown = (SAMPLES / f"{slug}.txt").read_text(encoding="utf-8")
    assert examples.without_figures(shown) == examples.without_figures(said), "run `make docs-rules`"


def test_there_is_no_other_sample():
    assert {path.stem for path in SAMPLES.iterdir()} == RULES.keys()


@pytest.mark.parametrize("slug", SLUGS)
def test_the_good_example_is_healthy(slug, seen):
    report = seen[slug, "good"].report
    assert report["exception"] is None and report["updates"]
    assert report["healthy"], [f["title"] for f in report["findings"]]
