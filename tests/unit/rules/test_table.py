"""The table and the pages: complete, short, in order, and current."""

import ast
from pathlib import Path

import pytest
from tests.unit.rules.conftest import a_cause

from whygrad.rules import pages
from whygrad.rules.table import FAMILIES, RULES

DOCS = Path(__file__).parents[3] / "docs" / "rules"
MISSING = (
    "detached no-grad-block numpy-round-trip nondifferentiable-op outside-tape loss-independent not-tracked "
    "not-in-optimizer stale-optimizer frozen wrong-variables fake-root stale-closure no-step unexplained"
)
WRONG = (
    "target-leak target-never-synced target-reversed target-alias target-in-optimizer broadcast-loss "
    "zero-grad-missing zero-grad-before-step clip-before-backward clip-after-step clip-to-nothing "
    "clip-unused cancelled-gradient polluted-gradient advantage-not-detached backward-twice "
    "in-place-modified terminal-mask value-sign surrogate-missing optimizer-recreated wrong-mode "
    "gradient-handover"
)
UNHEALTHY = "vanishing exploding non-finite zero-gradient oscillating stalled unused-in-ddp"


def test_slugs_never_change():
    families = {"missing": MISSING, "wrong": WRONG, "unhealthy": UNHEALTHY}
    assert {slug: rule.page.family for slug, rule in RULES.items()} == {
        slug: family for family, slugs in families.items() for slug in slugs.split()
    }


@pytest.mark.parametrize("slug", RULES)
def test_page_is_complete_and_its_examples_are_python(slug):
    page = RULES[slug].page
    assert page.slug == slug and page.family in FAMILIES
    assert all((page.summary, page.what, page.why, page.use_instead, page.site))
    assert not page.summary.endswith(".") and "\n" not in page.summary
    for example in (page.bad, page.good):
        ast.parse(example)
        assert len(example.splitlines()) <= 12
    assert page.bad != page.good
    assert bool(page.bad_tensorflow) == bool(page.good_tensorflow)
    for example in (page.bad_tensorflow, page.good_tensorflow):
        ast.parse(example)
        assert "torch" not in example and "detach" not in example


@pytest.mark.parametrize("slug", RULES)
def test_phrase_needs_no_details(slug):
    """Judging may know little; the sentence must still be one."""
    finding = RULES[slug].phrase(a_cause(slug))
    assert finding.rule == slug
    assert finding.title and finding.why and finding.fix
    assert "  " not in finding.title + finding.why + finding.fix
    assert (finding.title + finding.why + finding.fix + finding.avoid).count("`") % 2 == 0


def test_pages_are_current():
    assert pages.stale(DOCS) == [], "run `make docs-rules`"


def test_check_sees_an_old_page(tmp_path, capsys):
    assert pages.main([str(tmp_path)]) == 0
    assert pages.main([str(tmp_path), "--check"]) == 0
    (tmp_path / "detached.md").write_text("old")
    (tmp_path / "gone.md").write_text("of no rule")
    assert pages.main([str(tmp_path), "--check"]) == 1
    assert "detached.md" in capsys.readouterr().err
    assert pages.main([str(tmp_path)]) == 0
    assert pages.stale(tmp_path) == []
