"""The live page: a real training, the server beside it, and Chromium in front."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytestmark = pytest.mark.torch

SCRIPT = """
import os, time
import torch
from torch import nn

torch.manual_seed(0)
actor, critic = nn.Linear(3, 2), nn.Linear(2, 1)
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], 1e-3)
open("started", "w").close()
while not os.path.exists("stop"):
    action = actor(torch.randn(8, 3)).detach()
    loss = (critic(action) ** 2).mean()
    optimizer.zero_grad(); loss.backward(); optimizer.step()
    time.sleep(0.01)
try:
    print("children", os.waitpid(-1, 0))
except ChildProcessError:
    print("no children")
"""
PATIENCE = 240.0  # seconds; only a fault lets it be waited for


@dataclass
class Training:
    """A run that goes on until it is told to stop, and its server."""

    folder: Path
    process: subprocess.Popen[str]
    url: str

    def stop(self) -> tuple[int, str, str]:
        (self.folder / "stop").touch()
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out, err

    def ask(self, path: str, **headers: str) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=PATIENCE)
        connection.request("GET", path, headers=headers)
        return connection.getresponse()

    @property
    def path(self) -> str:
        return urlsplit(self.url).path


@pytest.fixture
def training(tmp_path: Path) -> Iterator[Training]:
    (tmp_path / "train.py").write_text(SCRIPT)
    command = [sys.executable, "-m", "whygrad", "run", "--at-end", "--live", "--every", "5", "--out", "out"]
    process = subprocess.Popen(
        [*command, "train.py"],
        cwd=tmp_path,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        url = re.search(r"http://127\.0\.0\.1:\d+/[\w-]+/", process.stderr.readline())
        assert url is not None
        yield Training(tmp_path, process, url[0])
    finally:
        process.kill()
        process.communicate()


def wait(until: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not until():
        assert time.monotonic() < end
        time.sleep(0.1)


def servers(folder: Path) -> list[int]:
    """Processes that serve a run in this folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().split(b"\0")
        except OSError:
            continue
        if b"live" in words and os.fsencode(folder / "out") in words:
            found.append(int(entry.parent.name))
    return found


def test_the_page_follows_the_training_to_its_end(training, browser):
    page, complaints = browser.new_page(), []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda r: None if r.url.startswith(training.url) else complaints.append(r.url))
    page.set_default_timeout(PATIENCE * 1000)
    page.goto(training.url)
    page.wait_for_selector("article.card h3 >> text=actor gets no gradient: cut by .detach()")
    page.wait_for_selector("#live >> text=Live: training goes on")
    updates = page.locator("#observed").inner_text()
    page.wait_for_function("old => document.querySelector('#observed').innerText !== old", arg=updates)
    code, out, err = training.stop()
    page.wait_for_selector("#live >> text=/The run has ended|No longer live/")
    assert "was killed, or is still running" not in page.locator("header.top").inner_text()
    page.close()
    assert (code, out, complaints) == (0, "no children\n", [])
    assert "cut by .detach()" in err and "Traceback" not in err
    wait(lambda: not servers(training.folder))


def test_only_who_knows_the_address_is_answered(training):
    assert training.ask(training.path).status == 200
    now = training.ask(training.path + "version")
    assert json.loads(now.read()).keys() == {"version", "says"}
    assert now.headers["X-Frame-Options"] == "DENY"
    for path in (
        "/",
        "/version",
        training.path[:-3] + "/",
        training.path + "train.py",
        training.path + "../",
    ):
        assert training.ask(path).status == 404
    assert training.ask(training.path, Host="evil.example").status == 404
    assert training.ask(training.path, Host="localhost:8123").status == 200  # through ssh -L
    assert training.stop()[0] == 0


def test_killing_the_server_never_touches_the_training(training):
    wait((training.folder / "started").exists)
    (server,) = servers(training.folder)
    os.kill(server, signal.SIGKILL)
    wait((training.folder / "out" / "report.json").exists)
    code, out, err = training.stop()
    assert (code, out) == (0, "no children\n") and "cut by .detach()" in err


def test_live_of_what_is_no_run_is_one_sentence(tmp_path):
    command = [sys.executable, "-m", "whygrad", "live"]
    for more in (["nowhere"], ["--port", "99999", "."]):
        done = subprocess.run([*command, *more], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 2
        assert done.stderr.startswith("whygrad: ") and done.stderr.count("\n") == 1
