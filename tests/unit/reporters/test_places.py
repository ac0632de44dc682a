"""Paths and excerpts."""

from dataclasses import replace

from whygrad.model import Mark, Site, Step
from whygrad.reporters import places


def test_paths_are_short(here):
    assert places.short(str(here / "a" / "train.py")) == "a/train.py"
    assert places.short("/x.py") == "/x.py"
    assert places.short("train.py") == "train.py"
    assert (
        places.short("/env/lib/python3.11/site-packages/stable_baselines3/sac/sac.py")
        == "stable_baselines3/sac/sac.py"
    )


def test_below(here):
    assert places.below(str(here / "train.py")) == "train.py"
    assert places.below("/env/site-packages/x.py") == "/env/site-packages/x.py"


def test_excerpt_is_dedented_and_marks_the_cut(finding):
    lines = places.excerpt(finding, context=0)
    assert [(line.number, line.text, line.mark) for line in lines] == [
        (4, 'a = actor(s).detach()  # "keep the critic"', (12, 9))
    ]


def test_excerpt_believes_the_run_and_not_a_file_that_has_changed(finding):
    edited = replace(finding, site=replace(finding.site, code="a = old(s)"))
    assert places.excerpt(edited, context=0)[0].text == "a = old(s)"


def test_the_mark_is_the_operation(finding):
    site = Site("<gone>", 1, "f", "return F.one_hot(logits.argmax(dim=-1), n)")
    marked = replace(finding, site=site, chain=(Step("argmax", site, mark=Mark.CUT),))
    line = places.excerpt(marked)[0]
    assert line.text[line.mark[0] : sum(line.mark)] == ".argmax(dim=-1)"


def test_a_whole_line_that_ends_in_a_number_is_not_underlined_in_part(finding):
    code = "optimizer = SGD(critic.parameters(), lr=1.0)"
    site = Site("/nowhere/train.py", 9, "main", code)
    marked = replace(finding, site=site, chain=(Step(code, site, mark=Mark.HERE),))
    assert places.excerpt(marked)[0].mark is None


def test_clipped_drops_the_comment_first():
    assert places.clipped("  a = b  # a very long comment", 12) == "  a = b"
    assert places.clipped("abcdefghij", 8) == "abcde..."


def test_a_path_of_a_strangers_report_is_read_in_one_go():
    assert places.short("x" * 1_000_000) == "x" * 1_000_000  # looked at once for each start, it takes hours
