"""docs/images/python/dig.png: the scripted operator of scree.envs.Dig empties its bucket. Run with build/venv/bin/python."""
import sys
from pathlib import Path

import scree
from scree.envs import Dig

env = Dig()
observation, _ = env.reset(seed=1)
operator = Dig.baseline(observation)
action, moved = next(operator), 0.0
for step in range(300):
    observation, reward, terminated, *_ = env.step(action)
    moved += reward
    if step == 47:
        scree.save_png(env.world.render(size=(960, 540), supersample=True), Path(sys.argv[1]) / "dig.png")
    if terminated:
        break
    action = operator.send(observation)
print(f"{moved:.3f} m^3 in {step + 1} actions")
