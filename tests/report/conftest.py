"""Reports of real runs, looked at in a real browser."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium; `make test` installs it."""
    found = os.environ.get("CHROMIUM") or next((path for n in NAMES if (path := shutil.which(n))), None)
    assert found, "there is no Chromium: make browser, or name it in CHROMIUM"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS.split())
        yield browser
        browser.close()


@pytest.fixture
def look(browser: Browser) -> Any:
    """Open a file; what the page complains about, or wants from a network, is a failure."""

    @contextmanager
    def opened(file: Path, **options: Any) -> Iterator[Page]:
        complaints: list[str] = []
        page = browser.new_page(**{"viewport": {"width": 1280, "height": 900}, **options})
        page.on("console", lambda m: complaints.append(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(f"dialog {dialog.message}"))
        page.on(
            "request",
            lambda r: None if r.url.startswith(("file:", "data:", "blob:")) else complaints.append(r.url),
        )
        page.set_default_timeout(120_000)  # milliseconds: a busy machine is not a failure
        page.goto(file.as_uri())
        page.wait_for_selector("html[data-ready=yes]")
        yield page
        page.close()
        assert complaints == []

    return opened


def whygrad(*arguments: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """The command line."""
    return subprocess.run(
        [sys.executable, "-m", "whygrad", *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "100"},
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.fixture(scope="session")
def sick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run directory of a DDPG whose actor is cut off, with its report."""
    folder = tmp_path_factory.mktemp("sick")
    shutil.copy(EXAMPLES / "broken_ddpg.py", folder / "train.py")
    whygrad("run", "--every", "2", "--out", "sick", "train.py", folder=folder)
    done = whygrad("report", "sick", folder=folder)
    assert done.returncode == 0, done.stderr
    return folder / "sick"


@pytest.fixture(scope="session")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, mended."""
    folder = tmp_path_factory.mktemp("healthy")
    source = (EXAMPLES / "broken_ddpg.py").read_text()
    (folder / "train.py").write_text(source.replace("actor(state).detach()", "actor(state)"))
    whygrad("run", "--every", "2", "--out", "healthy", "train.py", folder=folder)
    done = whygrad("report", "healthy", folder=folder)
    assert done.returncode == 0, done.stderr
    return folder / "healthy"
