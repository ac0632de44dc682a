"""What the README shows is what whygrad prints."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("readme_sample", ROOT / "scripts" / "readme_sample.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def readme():
    return (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_sample_is_current(script, readme):
    pytest.importorskip("torch")
    sample, start = script.demo_output(), script.START.read_text(encoding="utf-8")
    assert readme == script.with_sample(readme, sample), "run: python scripts/readme_sample.py"
    assert start == script.with_sample(start, sample), "run: python scripts/readme_sample.py"


def test_portable_drops_paths_and_builds(script):
    text = "whygrad: 1 error (PyTorch 2.13.0+cpu)\nwhygrad: the report is in /x/report.json\n"
    assert script.portable(text) == "whygrad: 1 error (PyTorch 2.13)"


def test_markers_are_needed(script):
    with pytest.raises(ValueError, match="sample:start"):
        script.with_sample("nothing", "")


def test_links_lead_somewhere():
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    for page in pages:
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_the_targets_it_names_exist(readme):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"make ([a-z-]+)", readme)) - {"this"}:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
