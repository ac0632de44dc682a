"""``whygrad explain``."""

import pytest

from whygrad.reporters.explain import render_list, render_rule
from whygrad.rules.table import RULES


def test_the_list_has_every_rule_under_its_family():
    text = render_list()
    assert (
        text.index("missing: a parameter that should learn") < text.index("detached") < text.index("wrong: ")
    )
    assert all(slug in text for slug in RULES)
    assert max(map(len, text.splitlines())) <= 88


@pytest.mark.parametrize("slug", RULES)
def test_a_page_has_everything(slug):
    page, text = RULES[slug].page, render_rule(slug)
    for line in (*page.bad.splitlines(), *page.good.splitlines()):
        assert line in text
    assert "Why it is bad" in text and "Use instead" in text
    assert "\x1b[" not in text and "\x1b[" in render_rule(slug, color=True)


def test_the_nearest_name_is_suggested():
    with pytest.raises(LookupError, match=r"there is no rule 'detach'; did you mean 'detached'"):
        render_rule("detach")
    with pytest.raises(LookupError, match="lists them all"):
        render_rule("zzzz")
