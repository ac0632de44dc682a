"""A cut inside an installed library: the site is there, and the user's own calling line is in the chain."""

import json
import os
import subprocess
import sys
import textwrap

LIBRARY = """
    import torch

    class Algo:
        def __init__(self, actor, critic):
            self.actor, self.critic = actor, critic
            self.opt = torch.optim.Adam(actor.parameters())

        def learn(self, updates):
            for _ in range(updates):
                state = torch.randn(8, 3)
                action = self.actor(state).detach()
                loss = -self.critic(torch.cat([state, action], 1)).mean()
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
"""
SCRIPT = """
    from torch import nn
    from algos import Algo

    actor, critic = nn.Linear(3, 2), nn.Linear(5, 1)
    algo = Algo(actor, critic)
    algo.learn(10)
"""


def test_the_users_own_line_is_in_the_chain(tmp_path):
    # GIVEN a library that was installed, and a script of seven lines that calls it
    installed = tmp_path / "site-packages"
    installed.mkdir()
    (installed / "algos.py").write_text(textwrap.dedent(LIBRARY))
    script = tmp_path / "train.py"
    script.write_text(textwrap.dedent(SCRIPT))

    # WHEN the library cuts the actor
    report = tmp_path / "report.json"
    command = [sys.executable, "-m", "whygrad", "run", "--quiet", "--json", report, "--out", tmp_path / "run"]
    environment = {**os.environ, "PYTHONPATH": str(installed), "OMP_NUM_THREADS": "1"}
    subprocess.run([*command, script], check=True, cwd=tmp_path, env=environment)

    # THEN the line in the library is the site, and the user's line that led there is shown
    (finding,) = json.loads(report.read_text())["findings"]
    assert finding["rule"] == "detached"
    assert finding["site"]["file"].endswith("algos.py")
    assert finding["site"]["code"] == "action = self.actor(state).detach()"
    own = [step for step in finding["chain"] if step.get("file", "").endswith("train.py")]
    assert any(step["what"] == "algo.learn(10)" for step in own)
