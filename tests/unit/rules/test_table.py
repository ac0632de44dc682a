"""The table and the pages: complete, short, in order, and current."""

import ast
import importlib
from pathlib import Path

import pytest
from tests.unit.rules.conftest import a_cause

from whygrad.rules import judging_wrong, pages
from whygrad.rules.table import FAMILIES, RULES, TOPICS, rules_of

DOCS = Path(__file__).parents[3] / "docs" / "rules"


def test_names_never_change():
    """The pages are the public record: a name that has one is the name of a rule for ever."""
    shipped = {page.stem for page in DOCS.glob("*.md")} - {"index"}
    assert len(shipped) >= 43
    assert shipped <= RULES.keys()


def test_a_file_has_the_name_of_its_rule():
    for topic in TOPICS:
        names = [rule.slug.replace("-", "_") for rule in rules_of(topic)]
        assert names == sorted(names) != []
        assert all((Path(topic.__path__[0]) / f"{name}.py").exists() for name in names)


def test_a_file_in_a_topic_is_a_rule_without_any_list(tmp_path, monkeypatch):
    (topic := tmp_path / "made_up").mkdir()
    (topic / "__init__.py").write_text("")
    (topic / "judge_b.py").write_text("from made_up.b import QUESTION")
    for name in "ba":
        lines = (
            "from whygrad.rules.cause import Cause",
            "from whygrad.rules.rule import Page, Rule",
            f"PAGE = Page('{name}', 'wrong', *'123456')",
            "QUESTION = lambda situation: iter(())",
            "RULE = Rule(PAGE, None, Cause, asks=QUESTION)",
        )
        (topic / f"{name}.py").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(tmp_path)
    assert [rule.slug for rule in rules_of(importlib.import_module("made_up"))] == ["a", "b"]


def test_the_question_in_a_rule_is_asked():
    """Of whatever family the rule is, after those that several rules share."""
    asking = [rule.asks for rule in RULES.values() if rule.asks]
    assert RULES["optimizer-recreated"].asks in asking
    assert list(judging_wrong.QUESTIONS[-len(asking) :]) == asking


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
    assert bool(page.bad_jax) == bool(page.good_jax) and page.bad_jax != (page.good_jax or None)
    for example in (page.bad_jax, page.good_jax):
        ast.parse(example)
        assert len(example.splitlines()) <= 12
        assert "torch" not in example and "detach" not in example and "tf." not in example


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
    assert "not current: " in (said := capsys.readouterr().err) and "detached.md" in said
    assert pages.main([str(tmp_path)]) == 1
    assert pages.stale(tmp_path) == ["gone.md"]
    assert "of no rule any more" in capsys.readouterr().err
    (tmp_path / "gone.md").unlink()
    assert pages.main([str(tmp_path)]) == 0
