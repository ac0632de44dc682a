"""Makes the pictures of the README: five real runs, their reports, and what a browser shows of them.

python scripts/screenshots.py [FOLDER]
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
RUNS = {
    "ddpg-detached": ["run", "--every", "2", "broken_ddpg.py"],
    "dqn-broadcast": ["run", "--every", "5", "broken_dqn.py"],
    "sac-in-place": ["run", "--every", "1", "broken_sac.py"],
    "ppo-healthy": ["run", "--every", "10", "ppo.py", "--steps", "40000", "--eval-episodes", "0"],
    "tf-agents-dqn": ["run", "--every", "1", "dqn_tf_agents.py", "--steps", "8000", "--eval-episodes", "0"],
}
OPENED = {"ddpg-detached": "actor"}  # networks that are shown with their layers
WHOLE = ("ppo-healthy", "tf-agents-dqn")
FLAGS = "--no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-sync"


def main() -> None:
    """Run, report, look."""
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "pictures"
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for scripts in ("examples", "src/whygrad/agents"):
            for script in (ROOT / scripts).glob("*.py"):
                shutil.copy(script, folder)
        for name, command in RUNS.items():
            verb, *rest = command
            whygrad([verb, "--out", name, *rest], folder)
            whygrad(["report", name], folder)
        with sync_playwright() as playwright:
            chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
            browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS.split())
            page = browser.new_page(viewport={"width": 1240, "height": 1200})
            for name in RUNS:
                page.goto((Path(folder) / name / "report.html").as_uri())
                page.wait_for_selector("html[data-ready=yes]")
                if name in OPENED:
                    page.click(f'#flow-picture g[data-network="{OPENED[name]}"]')
                    page.evaluate("scrollTo(0, 0)")
                page.screenshot(
                    path=target / f"{name}.png", full_page=name in ("ppo-healthy", "tf-agents-dqn")
                )
                print(target / f"{name}.png")
            browser.close()


def whygrad(command: list[str], folder: str) -> None:
    """The command line, in the folder of the scripts."""
    env = {**os.environ, "OMP_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    subprocess.run([sys.executable, "-m", "whygrad", *command], cwd=folder, env=env, capture_output=True)


if __name__ == "__main__":
    main()
