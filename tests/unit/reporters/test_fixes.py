"""A proven change beside its finding, and the words of ``whygrad fix``."""

import json

from whygrad.model import Finding, Run, Severity, Site
from whygrad.model.fix import Fixed, Treated
from whygrad.model.patch import Patch, Trained
from whygrad.reporters import fixes, github, html_findings, json_report, markdown, sarif, terminal
from whygrad.reporters.diff_reading import Replaced, replaced

DIFF = """\
--- a/train.py
+++ b/train.py
@@ -3,4 +3,5 @@
 a = 1
-b = net(a).detach()
+b = net(a)
 c = 2
+d = 3
 e = 4
"""
PATCH = Patch(
    "leave out `.detach()`", DIFF, ("detached is gone",), (Trained("loss", 7, "net", "-", "100 %"),)
)
CUT = Finding("detached", "net gets no gradient", Site("train.py", 4), "write `b = net(a)`", Severity.ERROR)
OTHER = Finding("stalled", "net stands still", Site("train.py", 9), "a larger one", Severity.WARNING)
TOLD = Treated(
    "train.py",
    ("--lr", "1"),
    (Fixed(CUT, (PATCH,)), Fixed(OTHER, untried="no change is known that cures this with certainty")),
    DIFF,
    ("train.py",),
    exit_code=1,
    verdict="findings",
    before="findings",
    runs=2,
    seconds=3.0,
)
RUN = fixes.patched(Run("train.py", findings=(CUT, OTHER)), fixes.as_json(TOLD))


def test_a_diff_is_read_back():
    assert replaced(DIFF) == {"train.py": [Replaced(4, 1, "b = net(a)\n"), Replaced(6, 0, "d = 3\n")]}


def test_the_change_stands_beside_its_own_finding():
    assert RUN.findings[0].patch == Patch(PATCH.what, DIFF, PATCH.shown)
    assert RUN.findings[1].patch is None


def test_it_is_in_every_report():
    assert json_report.parse(json_report.render(RUN)).findings[0].patch == RUN.findings[0].patch
    assert "proven leave out `.detach()`" in terminal.render(RUN)
    assert "+b = net(a)" in markdown.findings(RUN)
    assert "Proven by whygrad fix:" in github.commands(RUN, "")
    page = html_findings.cards(RUN)
    assert page.count('class="copy"') == 1 and "-b = net(a).detach()" in page
    first, second = json.loads(sarif.render(RUN, ""))["runs"][0]["results"]
    [change] = first["fixes"][0]["artifactChanges"]
    assert [r["deletedRegion"]["startLine"] for r in change["replacements"]] == [4, 6]
    assert "fixes" not in second


def test_what_is_said():
    text = fixes.as_text(TOLD)
    assert "proven: leave out `.detach()`" in text
    assert "loss :7 trains net: - before, 100 % now" in text
    assert "not tried: no change is known" in text and "advice, not tried: a larger one" in text
    assert "1 of 2 findings have a proven change" in text
    assert "whygrad fix --apply train.py --lr 1" in text


def test_nothing_to_fix_and_nothing_to_judge():
    assert "nothing to fix in train.py: healthy" in fixes.as_text(Treated("train.py", before="healthy"))
    assert "could not be checked: boom" in fixes.as_text(Treated("train.py", trouble="boom"))
