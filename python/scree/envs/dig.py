"""Dig: a bucket takes soil from one side of a wall and carries it to the other."""
from __future__ import annotations

from collections.abc import Iterator
from math import radians

import numpy as np

from scree.envs.tool import ToolEnv, ToolVector, follow

_DENSITY = 1600.0


class DigVector(ToolVector):
    """n times Dig, side by side. The score is the volume beyond the wall in m^3, the reward how much it grows."""

    scene = {
        "title": "Dig", "frame_rate": 60, "duration": 20, "method": {"name": "pbd", "radius": 0.05},
        "materials": {"soil": {"density": _DENSITY, "friction_static": 0.5, "friction_kinetic": 0.45,
                               "color": [0.55, 0.42, 0.28]}},
        "grains": [{"material": "soil", "fill": {"box": {"min": [0.06, -0.6, 0], "max": [2.2, 0.6, 0.7]}},
                    "start": "dense"}],
        "boundaries": [{"name": "tank", "box": {"min": [-2.2, -0.6, 0], "max": [2.2, 0.6, 6]}, "inside": True},
                       {"name": "wall", "box": {"min": [-0.06, -0.6, 0], "max": [0.06, 0.6, 0.7]}}],
        "bodies": [{"name": "bucket", "mesh": "excavator_bucket.obj", "scale": 3, "motion": "fixed",
                    "position": [1.6, 0, 2.1], "friction_static": 0.3, "friction_kinetic": 0.3,
                    "color": [0.9, 0.65, 0.15]}],
        "camera": {"eye": [1.2, -5.4, 3.0], "target": [0.0, 0, 0.75], "fov_deg": 38},
        "probes": [{"name": "moved", "kind": "mass_in", "box": {"min": [-2.2, -0.6, 0], "max": [0, 0.6, 0.7]}}],
    }
    tool = "bucket"
    home = (1.6, 2.0, radians(-90))
    low, high = (-0.7, 1.1, radians(-200)), (2.0, 2.2, radians(-50))
    speed = (1.2, 1.2, radians(100))
    map_corner, map_cell, map_shape = (-2.2, -0.6), 0.1, (12, 44)
    goal = 0.5  # m^3

    def score(self) -> np.ndarray:
        return self.batch.probe("moved") / _DENSITY

    def done(self) -> np.ndarray:
        return self._scores >= self.goal


class Dig(ToolEnv):
    """Half a cubic metre of soil is to be carried over a wall with a bucket that moves along x and z and turns.

    action: three numbers from -1 to 1, velocities along x and z and of the pitch. Observation: heights (12, 44) of the
    surface in m, tool (x, z, pitch), force on the bucket in N. Reward: m^3 that came over the wall in the step."""

    vector_class = DigVector

    @staticmethod
    def baseline(observation: dict, frames_per_action: int = 6) -> Iterator[np.ndarray]:
        """Actions of a scripted operator: lower, drag, curl, lift, swing over, empty, come back. Send it each observation:

            operator = Dig.baseline(observation); action = next(operator)
            ... action = operator.send(observation)"""
        seconds, scoop = frames_per_action / 60, 0
        while True:
            x = (1.95, 1.6, 1.8)[scoop % 3]
            tip = 0.35 - 0.1 * min(scoop // 3, 2)
            for place in [(x, 2.1, -70), (x, tip + 1.19, -80), (x - 0.85, tip + 1.22, -110), (x - 0.9, 1.5, -190),
                          (x - 0.9, 2.0, -195), (-0.35, 2.0, -195), (-0.5, 2.0, -60), (x, 2.1, -70)]:
                goal = np.array([place[0], place[1], radians(place[2])])
                for _ in range(40):
                    if np.abs(observation["tool"] - goal).max() < 0.03:
                        break
                    observation = yield follow(observation, goal, DigVector.speed, seconds)
            scoop += 1
