"""One of our agents: `ours.py NAME STEPS [arguments of the agent ...]`; --learn also evaluates it."""

import json
import runpy
import sys
import time
from pathlib import Path

AGENTS = Path(__file__).parents[2] / "src" / "whygrad" / "zoo" / "agents"
CLASSES = {
    "dqn": "DQN",
    "ppo": "PPO",
    "reinforce": "Reinforce",
    "ddpg": "DDPG",
    "dqn_keras": "DQN",
    "dqn_tf_agents": "DQN",
}
THRESHOLDS = {"dqn": 475, "ppo": 475, "reinforce": 400, "ddpg": -200, "dqn_keras": 475, "dqn_tf_agents": 400}

name, steps, *rest = sys.argv[1:]
learn, rest = "--learn" in rest, [word for word in rest if word != "--learn"]
script = runpy.run_path(str(AGENTS / f"{name}.py"), run_name="agent")
agent = script[CLASSES[name]](script["arguments"](["--steps", steps, *rest]))
reached: dict[str, float] = {}


def look(agent):
    """When the mean of the last 20 training episodes first reaches the threshold."""
    lately = [row[1] for row in agent.curve[-20:]]
    if not reached and len(lately) == 20 and sum(lately) / 20 >= THRESHOLDS[name]:
        reached.update(steps=agent.step, wall=time.perf_counter() - wall, cpu=time.process_time() - cpu)


wall, cpu = time.perf_counter(), time.process_time()
agent.learn(int(steps), look)
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
print(f"measured {agent.step / wall:.1f} {agent.step / cpu:.1f}")
if learn:
    returns = script["evaluate"](agent, 100, 10_000 + agent.args.seed)
    mean = sum(returns) / len(returns)
    told = {
        "agent": name,
        "seed": agent.args.seed,
        "steps": agent.step,
        "mean": round(mean, 1),
        "lowest": round(min(returns), 1),
    }
    told |= {
        "wall": round(wall, 1),
        "cpu": round(cpu, 1),
        "reached": {k: round(v, 1) for k, v in reached.items()},
    }
    print(json.dumps(told))
