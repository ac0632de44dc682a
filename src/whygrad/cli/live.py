"""``whygrad live``: the report of a run that goes on, in a browser of this machine.

The server is a process of its own that reads the run's directory: nothing that happens to it, or to the
browser, reaches the training. It listens on the loopback address only, under a path that nobody can guess,
and answers questions; it changes nothing.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import secrets
import subprocess
import sys
import threading
import time
import webbrowser
from collections.abc import Callable, Sequence
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from whygrad import strangers
from whygrad.cli.output import Output
from whygrad.cli.run_directories import NotARun, Stored, folder_of, read
from whygrad.cli.saying import refuse, say
from whygrad.model import Run
from whygrad.reporters import live
from whygrad.running.past import alive, ended
from whygrad.storage.directory import EVIDENCE, FIXES, HISTORY, REPORT

_FILES = (REPORT, EVIDENCE, HISTORY, FIXES)
_GRACE = 5.0  # seconds for open pages to fetch the last state
_LOOPBACK = "127.0.0.1"
_HOSTS = (_LOOPBACK, "localhost", "::1")  # ssh -L changes the port, and a stranger's page the name
_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


def add_option(parser: argparse.ArgumentParser) -> None:
    """``--live``, for ``whygrad run``."""
    parser.add_argument(
        "--live",
        action="store_true",
        help="serve the report on this machine while the script trains, and say where",
    )


def begin(output: Output) -> None:
    """A server for the run of this process. If it cannot be had, the run goes on without it."""
    try:
        folder = output.directory.path()
        command = [sys.executable, "-m", "whygrad", "live", str(folder), "--of", str(os.getpid())]
        nowhere = subprocess.DEVNULL  # stdout is the program's
        subprocess.run(
            command,
            stdin=nowhere,
            stdout=nowhere,
            start_new_session=True,  # Ctrl-C is for the program
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        output.say_now(f"whygrad: --live could not be started: {strangers.line(error)}")


def main(argv: Sequence[str]) -> int:
    """Serve it until Ctrl-C."""
    parser = argparse.ArgumentParser(
        prog="whygrad live",
        description="Serves the report of a run that goes on, here only (or, by ssh -L, on another).",
        allow_abbrev=False,
    )
    parser.add_argument("run", metavar="RUN", nargs="?", help="its directory (default: the newest in runs/)")
    parser.add_argument("--port", type=int, default=0, help="default: one that is free")
    parser.add_argument("--open", action="store_true", help="show it in the browser")
    parser.add_argument("--of", type=int, default=0, help=argparse.SUPPRESS)  # the process that trains
    options = parser.parse_args(argv)
    try:
        page = Page(Path(options.run) if options.of else folder_of(options.run), options.of)
        server = serving(page, options.port)
    except (NotARun, OSError, OverflowError) as error:
        return refuse(error)
    say(f"whygrad: live at {server.url}", sys.stderr)
    if options.of:
        return _beside(server, page)
    if options.open and not webbrowser.open(server.url):
        say("whygrad: no browser could be started; open the address by hand", sys.stderr)
    with contextlib.suppress(KeyboardInterrupt):
        server.serve_forever()
    return 0


class Page:
    """What is served: made anew whenever the directory has changed."""

    def __init__(self, folder: Path, pid: int = 0) -> None:
        self._folder, self._pid = folder, pid
        self._started = datetime.now().astimezone().isoformat()
        self._making = threading.Lock()
        self._made: tuple[str, str] | None = None  # the state of the directory, and the page of it
        self._run: Run | None = None

    def version(self) -> str:
        """Another one whenever a file of the run has changed."""
        marks = []
        for name in _FILES:
            with contextlib.suppress(OSError):
                about = os.lstat(self._folder / name)
                marks.append(f"{name[0]}{about.st_mtime_ns:x}.{about.st_size:x}")
        return "-".join(marks)

    def html(self) -> str:
        """As of now."""
        with self._making:
            version = self.version()
            if self._made is None or self._made[0] != version:
                self._made = version, self._rendered(version)
            return self._made[1]

    def over(self) -> bool:
        """Has the run ended, in whatever way?"""
        if self._run is not None and ended(self._run) not in ("still running", "not ended"):
            return True
        return bool(self._pid) and not alive(self._pid, self._started)

    def says(self) -> str:
        """Where the run stands, in a sentence."""
        if self.over():
            return "The run has ended; this is its last state."
        return f"Live: training goes on. Looked at {time.strftime('%H:%M:%S')}."

    def _rendered(self, version: str) -> str:
        try:
            stored = read(str(self._folder))
        except (NotARun, OSError) as error:
            missing = not os.path.lexists(self._folder / REPORT)
            says = "Waits for the first look, some seconds after the first update." if missing else str(error)
            return live.waiting(self._folder.name, version, strangers.line(says))
        self._run = stored.run
        return self._whole(stored, version)

    def _whole(self, stored: Stored, version: str) -> str:
        with stored.reading():
            return live.render(stored.run, stored.series(), stored.histograms(), version, self.says())


class Server(ThreadingHTTPServer):
    """On the loopback address, under a secret path."""

    daemon_threads = True

    def __init__(self, port: int, handler: Callable[..., BaseHTTPRequestHandler], token: str) -> None:
        super().__init__((_LOOPBACK, port), handler)
        self.url = f"http://{_LOOPBACK}:{self.server_address[1]}/{token}/"

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that has gone is no error."""


def serving(page: Page, port: int = 0) -> Server:
    """A server of this page; it answers as soon as somebody lets it."""
    token = secrets.token_urlsafe(16)

    class Handler(BaseHTTPRequestHandler):
        server_version, sys_version = "whygrad", ""

        def do_GET(self) -> None:
            host = urlsplit(f"//{self.headers.get('Host', '')}").hostname
            if host not in _HOSTS or not secrets.compare_digest(self.path[: len(token) + 2], f"/{token}/"):
                return self._give(404, "text/plain", "not found\n")
            name = self.path[len(token) + 2 :]
            if name == "":
                return self._give(200, "text/html", page.html())
            if name == "version":
                now = {"version": page.version(), "says": page.says()}
                return self._give(200, "application/json", json.dumps(now))
            return self._give(404, "text/plain", "not found\n")

        def _give(self, code: int, kind: str, text: str) -> None:
            data = text.encode("utf-8", "backslashreplace")
            self.send_response(code)
            for header, value in _HEADERS.items():
                self.send_header(header, value)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """To nobody: stderr is the program's."""

    return Server(port, Handler, token)


def _beside(server: Server, page: Page) -> int:
    """Until the run is over, in a process that is nobody's child: a program may wait for all of its own."""
    if hasattr(os, "fork") and os.fork():
        os._exit(0)
    with contextlib.suppress(OSError):
        os.nice(10)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    while not page.over():
        time.sleep(0.5)
        page.html()  # so that the end is known although nobody looks
    page.html()
    time.sleep(_GRACE)
    return 0
