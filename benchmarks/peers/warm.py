"""One of our TensorFlow agents, timed as its peers are: after the random steps, the tracing and the compiling."""

import runpy
import sys
import time
from pathlib import Path

AGENTS = Path(__file__).parents[2] / "src" / "whygrad" / "zoo" / "agents"
name, steps = sys.argv[1], int(sys.argv[2])
script = runpy.run_path(str(AGENTS / f"{name}.py"), run_name="agent")
agent = script[{"ddpg": "DDPG", "dqn_keras": "DQN"}[name]](
    script["arguments"](["--steps", str(steps + 2_000)])
)
agent.learn(1_280 if name == "dqn_keras" else 1_050)
if name == "dqn_keras":
    agent.args.epsilon_steps = 1e-9  # from now on 0.04, as the peer: so nearly every step asks the network
first, wall, cpu = agent.step, time.perf_counter(), time.process_time()
agent.learn(first + steps)
print(f"measured {steps / (time.perf_counter() - wall):.1f} {steps / (time.process_time() - cpu):.1f}")
