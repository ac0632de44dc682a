"""Notebook output: everything of the user's is escaped."""

from dataclasses import replace
from html.parser import HTMLParser

from whygrad.model import Mark, Note, Site, Step
from whygrad.reporters.notebook import html, html_finding

EVIL = '<script>alert("x")</script>'


class Balance(HTMLParser):
    """Collects tags and sees to it that they close."""

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], set()

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.seen.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def parsed(text):
    parser = Balance()
    parser.feed(text)
    assert parser.open == []
    return parser


def test_finding_says_it_all(finding):
    text = html_finding(finding)
    parsed(text)
    for part in (
        "error[detached]",
        "actor gets no gradient",
        "train.py:4",
        "(cut here)",
        "<code>a = actor(s)</code>",
    ):
        assert part in text


def test_nothing_of_the_script_becomes_markup(run, finding):
    site = Site(EVIL, 1, EVIL, EVIL)
    evil = replace(
        finding,
        rule=EVIL,
        title=EVIL,
        why=EVIL,
        fix=f"`{EVIL}`",
        avoid=EVIL,
        network=EVIL,
        subjects=(EVIL,),
        site=site,
        chain=(Step(EVIL, site, mark=Mark.CUT), Step(EVIL, site)),
    )
    text = html(replace(run, script=EVIL, findings=(evil,), notes=(Note(EVIL, site),)))
    assert "script" not in parsed(text).seen
    assert "<script" not in text


def test_healthy_run(run):
    text = html(replace(run, findings=(), exception=None))
    parsed(text)
    assert "healthy" in text and "no_grad is right here" in text
