"""The site is built from docs/, strictly, and needs no network to be read."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from whygrad.rules.table import RULES

pytestmark = pytest.mark.long  # `make docs` is as strict

ROOT = Path(__file__).parents[2]


def build(to, config=ROOT / "mkdocs.yml"):
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--config-file",
        str(config),
        "--site-dir",
        str(to),
    ]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = build(folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_page_is_there(site):
    pages = [p.relative_to(ROOT / "docs").with_suffix(".html") for p in (ROOT / "docs").rglob("*.md")]
    assert len(pages) > 60
    assert [page for page in pages if not (site / page).exists()] == []


def test_every_rule_is_in_the_navigation(site):
    start = (site / "index.html").read_text(encoding="utf-8")
    assert [slug for slug in RULES if f'href="rules/{slug}.html"' not in start] == []


def test_nothing_is_fetched(site):
    fetched = re.compile(r"""<(?:script|img|iframe|link)\b[^>]*(?:src|href)=["']?(?:https?:)?//""")
    for page in site.rglob("*.html"):
        found = fetched.search(page.read_text(encoding="utf-8"))
        assert found is None, (page.name, found[0])
    for style in site.rglob("*.css"):
        assert not re.search(r"(?:@import|url\()\s*[\"']?(?:https?:)?//", style.read_text(encoding="utf-8"))


def test_a_file_of_the_repository_is_shown(site):
    agent = (site / "agents" / "dqn.html").read_text(encoding="utf-8")
    assert 'href="../source/src/whygrad/zoo/agents/dqn.py.html"' in agent
    shown = (site / "source" / "src" / "whygrad" / "zoo" / "agents" / "dqn.py.html").read_text(
        encoding="utf-8"
    )
    assert "clip_grad_norm_" in shown
    assert "004_1_as_written.py" in (site / "source" / "docs" / "seeds.html").read_text(encoding="utf-8")


def test_a_broken_link_breaks_the_build(tmp_path):
    """That the test above can fail."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("[gone](gone.md)\n")
    settings = (ROOT / "mkdocs.yml").read_text()
    settings = re.sub(r"(?m)^nav:\n(?: .*\n)+", "nav: [index.md]\n", settings)
    settings = settings.replace("scripts/mkdocs_hooks.py", str(ROOT / "scripts" / "mkdocs_hooks.py"))
    (tmp_path / "mkdocs.yml").write_text(settings)
    done = build(tmp_path / "site", tmp_path / "mkdocs.yml")
    assert done.returncode == 1 and "gone.md" in done.stderr
