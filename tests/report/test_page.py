"""What a person sees and does on the page, in Chromium."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from whygrad.cli.report import page as html_of
from whygrad.cli.run_directories import read


def drawn(page, selector):
    """How many different colours the canvas has: an empty one has one."""
    return page.evaluate(
        """selector => { const c = document.querySelector(selector + " canvas");
        const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data, seen = new Set();
        for (let i = 0; i < d.length; i += 4) seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]);
        return seen.size; }""",
        selector,
    )


def test_the_verdict_and_the_finding_are_there(sick, look):
    with look(sick / "report.html") as page:
        assert page.locator("h1").inner_text().startswith("1 error in ")
        card = page.locator("article.card")
        assert card.count() == 1
        assert "actor gets no gradient: cut by .detach()" in card.locator("h3").inner_text()
        assert ".detach()" in card.locator(".culprit mark").inner_text()
        assert "best = actor(state).detach()" in card.locator(".culprit").inner_text()
        assert "write best = actor(state)" in card.locator("dd").nth(1).inner_text()
        assert "requires_grad = True" in card.inner_text()


def test_the_link_of_a_finding_opens_its_rule(sick, look):
    with look(sick / "report.html") as page:
        assert not page.locator("#rule-detached pre").first.is_visible()
        page.click("article.card a")
        assert page.locator("#rule-detached pre").first.is_visible()


def test_the_flow_picture_shows_the_cut(sick, look):
    with look(sick / "report.html") as page:
        cut = page.locator("#flow-picture .edge.culprit")
        assert cut.count() == 1
        assert "detach" in cut.text_content() and "train.py:45" in cut.text_content()
        assert page.locator('#flow-picture g.starved[data-network="actor"]').count() == 1
        assert "no gradient" in page.locator('#flow-picture g[data-network="actor"]').text_content()
        assert page.locator("#flow-picture .edge.flows").count() == 2
        cut.locator(".label-box").hover()
        assert "best = actor(state).detach()" in page.locator("#flow-says").inner_text()


@pytest.mark.parametrize("how", ["mouse", "keyboard"])
def test_a_network_opens(sick, look, how):
    with look(sick / "report.html") as page:
        box = page.locator('#flow-picture g[data-network="critic"]')
        assert box.locator("text.layer").count() == 0
        if how == "mouse":
            box.click()
        else:
            box.focus()
            page.keyboard.press("Enter")
        assert box.locator("text.layer").all_text_contents() == ["0", "2", "4"]
        assert box.get_attribute("aria-expanded") == "true"
        page.keyboard.press("Enter")  # it has the focus
        assert box.locator("text.layer").count() == 0


def test_charts_are_drawn_and_follow(healthy, look):
    with look(healthy / "report.html") as page:
        assert all(drawn(page, chart) > 8 for chart in ("#heatmap", "#lines", "#histograms"))
        page.select_option("#variable", "critic.4.bias")
        page.select_option("#quantity", "update/ratio")
        assert "update next to the weight" in page.locator("#lines .u-legend").inner_text()
        page.locator("#heatmap").focus()
        page.keyboard.press("ArrowUp")
        assert page.input_value("#variable") == "critic.4.weight"
        page.locator("#heatmap .u-over").hover(position={"x": 300, "y": 5})
        assert "update" in page.locator("#heatmap .tip").inner_text()


def test_a_variable_without_a_gradient_is_said_in_words(sick, look):
    with look(sick / "report.html") as page:
        page.select_option("#variable", "actor.0.weight")
        assert "had no gradient in any of the 200" in page.locator("#lines").inner_text()


def test_who_trains_whom(healthy, look):
    with look(healthy / "report.html") as page:
        rows = page.locator("table.matrix tbody tr").all_inner_texts()
        actor = next(r for r in rows if "actor_opt" in r)
        assert "passes" in actor and "100 %" in actor
        assert page.locator("article.card").count() == 0
        assert page.locator("h1").inner_text().startswith("healthy.")


@pytest.mark.parametrize("width", [360, 800])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits(sick, look, width, scheme):
    size = {"width": width, "height": 800}
    with look(sick / "report.html", viewport=size, color_scheme=scheme) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (paper == "rgb(255, 255, 255)") == (scheme == "light")


def test_printed_it_is_light_and_whole(sick, look):
    with look(sick / "report.html", color_scheme="dark") as page:
        page.emulate_media(media="print", color_scheme="dark")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert not page.locator(".controls").first.is_visible()
        assert len(page.pdf()) > 20_000


def test_without_scripts_the_words_are_there(sick, browser):
    page = browser.new_page(java_script_enabled=False)
    page.goto((sick / "report.html").as_uri())
    assert "actor gets no gradient" in page.locator("h3").first.inner_text()
    assert page.locator("article.card .culprit").is_visible()
    page.close()


HOSTILE = "</script><img src=x onerror=alert(1)><b>${alert(2)}&amp;'\""


def hostile(value):
    """Every text of a report, with HTML and JavaScript in it."""
    if isinstance(value, dict):
        return {
            key: hostile(v) if key not in ("severity", "confidence", "rule", "kind") else v
            for key, v in value.items()
        }
    if isinstance(value, list):
        return [hostile(v) for v in value]
    return value + HOSTILE if isinstance(value, str) and value else value


def test_whatever_comes_from_the_program_stays_text(sick, look, tmp_path: Path):
    report = json.loads((sick / "report.json").read_text())
    report["exception"] = {"type": "Error", "message": HOSTILE, "file": "x.py", "line": 3}
    report["notes"].append({"kind": "observation", "text": HOSTILE, "site": None})
    names = {w["name"]: w["name"] + HOSTILE for la in report["drawing"]["layers"] for w in la["weights"]}
    (tmp_path / "report.json").write_text(json.dumps(hostile(report)))
    history = (sick / "watch.history").read_bytes()
    head, _, numbers = history.partition(b"\n")
    told = json.loads(head)
    told["series"] = [[o + HOSTILE, names.get(v, v), q, s] for o, v, q, s in told["series"]]
    (tmp_path / "watch.history").write_bytes(json.dumps(told).encode() + b"\n" + numbers)
    (tmp_path / "report.html").write_text(html_of(read(str(tmp_path))))
    with look(tmp_path / "report.html") as page:
        assert page.locator("img").count() == 0
        assert HOSTILE in page.locator("article.card h3").inner_text()
        page.locator("#flow-picture g.network").first.click()
        page.locator("#flow-picture .edge.flows").first.focus()
        assert page.locator("#flow-says").inner_text().count("onerror") >= 1
        assert HOSTILE in page.locator("#variable option").first.inner_text()


def test_nothing_runs_but_the_scripts_of_the_page(sick, tmp_path, browser):
    # GIVEN a report into which somebody has put a script, a handler and a style
    text = (sick / "report.html").read_text()
    policy = text.partition('Content-Security-Policy" content="')[2].partition('"')[0]
    assert "unsafe" not in policy and "require-trusted-types-for 'script'" in policy
    evil = "<script>window.owned = 1</script><img src=x onerror='window.owned = 2'><b style='color:red' id=b>b</b>"
    (tmp_path / "page.html").write_text(text.replace("<main>", "<main>" + evil))

    # WHEN it is opened
    page = browser.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    page.wait_for_selector("html[data-ready=yes]", timeout=20_000)

    # THEN the page is drawn, and nothing else has run
    assert page.evaluate("window.owned") is None
    assert page.evaluate("document.getElementById('b').getAttribute('style')") is not None
    assert page.evaluate("getComputedStyle(document.getElementById('b')).color") != "rgb(255, 0, 0)"
    page.close()
