"""The tutorials are true: their commands print what they show, their fixes fix, their other causes have those rules."""

import re

import pytest
from scripts import tutorials
from tests.choosing import mostly_long, selected
from tests.docs import examples, running

pytestmark = [
    pytest.mark.skipif(not running.HERE, reason="needs PyTorch and TensorFlow"),
]

PAGES = {p.stem: p.read_text(encoding="utf-8") for p in sorted(tutorials.TUTORIALS.glob("*.md"))}
VARIANTS = [(name, variant) for name, page in PAGES.items() for variant in tutorials.variants(page)]
FIXED = [(name, file) for name, page in PAGES.items() for file in tutorials.fixed(page)]
TESTS = [(name, f) for name, page in PAGES.items() for f in tutorials.files(page) if f.startswith("test_")]


KEPT = "target-network"


def kept(rows):
    """The rows of one tutorial are for every day."""
    return mostly_long(rows, lambda row: KEPT in (row, row[0]))


def of(names, rows):
    """The rows of these tutorials."""
    return [row for row in rows if row[0] in names]


class Plan:
    """Everything that is to be run, collected, run at once, and asked for by its key."""

    def __init__(self, root):
        self.root, self.jobs = root, {}

    def folder(self, files):
        folder = self.root / str(len(list(self.root.iterdir())))
        folder.mkdir()
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
        return folder

    def add(self, key, files, command):
        framework = tutorials.framework("".join(files.values()))
        self.jobs[key] = running.Job(self.folder(files), command, framework)

    def run(self):
        return dict(zip(self.jobs, running.run_all(list(self.jobs.values())), strict=True))


@pytest.fixture(scope="module")
def done(tmp_path_factory, request):
    """What came of every command, fix, variant and test file of the tutorials that are asked for."""
    plan, names = Plan(tmp_path_factory.mktemp("tutorials")), selected(request, "name")
    for name in names:
        for job in tutorials.jobs(PAGES[name], plan.folder({})):
            plan.jobs[name, job.command] = job
    for name, file in of(names, FIXED):
        plan.add((name, file), {file: tutorials.fixed(PAGES[name])[file]}, f"whygrad check {file}")
    for name, variant in of(names, VARIANTS):
        # A sync comes later than a check waits.
        verb = "run" if name == "target-network" else "check"
        plan.add((name, variant), {"train.py": variant.script}, f"whygrad {verb} train.py")
    for name, file in of(names, TESTS):
        for state in ("broken", "fixed"):
            files = tutorials.files(PAGES[name]) | (tutorials.fixed(PAGES[name]) if state == "fixed" else {})
            needed = {n: text for n, text in files.items() if n == file or n[:-3] in files[file]}
            plan.add((name, file, state), needed, f"python -m pytest -q -p no:cacheprovider {file}")
    return plan.run()


def _named(done):
    return re.findall(r"^(?:error|warning)\[([\w-]+)\]", done.stderr, re.MULTILINE)


def test_there_is_something_to_test():
    assert len(PAGES) == 6 and len(VARIANTS) > 15 and len(FIXED) == 8 and len(TESTS) == 4


@pytest.mark.parametrize("name", kept(PAGES))
def test_the_output_is_what_is_printed(name, done):
    page = PAGES[name]
    printed = {command: tutorials.said(done[name, command].stderr) for command in tutorials.commands(page)}
    shown = examples.without_figures(tutorials.filled(page, printed))
    assert shown == examples.without_figures(page), "run: python scripts/tutorials.py"


@pytest.mark.parametrize("name", kept(name for name, page in PAGES.items() if "```text\n" in page))
def test_the_error_at_the_top_is_raised(name, done):
    error = re.search(r"```text\n(.*?)\n```", PAGES[name])[1]
    assert any(error in done[name, command].stderr for command in tutorials.commands(PAGES[name]))


@pytest.mark.parametrize("name, file", kept(FIXED))
def test_the_fix_fixes(name, file, done):
    assert done[name, file].code == 0, done[name, file].stderr[-2000:]


@pytest.mark.parametrize("name, variant", kept(VARIANTS), ids=[f"{n}-{v.rule}" for n, v in VARIANTS])
def test_another_line_is_told_apart(name, variant, done):
    assert variant.rule in _named(done[name, variant]), (variant.code, done[name, variant].stderr[-3000:])


SAME = [(n, v) for n, v in VARIANTS if v.kind == "instead" and "The same message" in PAGES[n]]


@pytest.mark.parametrize("name, variant", kept(SAME), ids=[f"{n}-{v.rule}" for n, v in SAME])
def test_it_is_the_same_message(name, variant, done):
    error = re.search(r"```text\n(.*?)\n```", PAGES[name])[1]
    assert error in done[name, variant].stderr


@pytest.mark.parametrize("name, file", kept(TESTS))
def test_the_test_file_fails_before_the_fix_and_passes_after_it(name, file, done):
    assert done[name, file, "broken"].code == 1, done[name, file, "broken"].stdout[-2000:]
    assert done[name, file, "fixed"].code == 0, done[name, file, "fixed"].stdout[-2000:]
