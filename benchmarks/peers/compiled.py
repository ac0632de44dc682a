"""ppo_jax, timed after the compiling: `compiled.py --seeds N STEPS`. The steps of all seeds count."""

import runpy
import sys
import time
from pathlib import Path

AGENTS = Path(__file__).parents[2] / "src" / "whygrad" / "zoo" / "agents"
*words, steps = sys.argv[1:]
script = runpy.run_path(str(AGENTS / "ppo_jax.py"), run_name="agent")
agent = script["PPO"](script["arguments"]([*words, "--steps", str(2 * int(steps))]))
agent.learn(int(steps))
first, wall, cpu = agent.step, time.perf_counter(), time.process_time()
agent.learn(2 * first)  # as many rounds, so the same compiled function
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
done = first * agent.args.seeds
print(f"measured {done / wall:.1f} {done / cpu:.1f}")
