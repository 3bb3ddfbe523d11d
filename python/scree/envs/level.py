"""Level: a blade makes an uneven bed flat."""
from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from scree.envs.tool import ToolEnv, ToolVector, follow


class LevelVector(ToolVector):
    """n times Level, side by side. The score is minus the standard deviation of the heights in m."""

    scene = {
        "title": "Level", "frame_rate": 60, "duration": 20, "method": {"name": "pbd", "radius": 0.04},
        "materials": {"soil": {"density": 1600, "friction_static": 0.5, "friction_kinetic": 0.45,
                               "color": [0.62, 0.52, 0.36]}},
        "grains": [{"material": "soil", "fill": {"box": {"min": [-2, -0.5, 0], "max": [2, 0.5, 0.2]}}, "start": "dense"},
                   {"material": "soil", "fill": {"box": {"min": [-0.5, -0.5, 0.2], "max": [0.5, 0.5, 0.5]}},
                    "start": "dense"}],
        "boundaries": [{"name": "tank", "box": {"min": [-2, -0.5, 0], "max": [2, 0.5, 3]}, "inside": True}],
        "bodies": [{"name": "blade", "box": {"size": [0.1, 0.98, 0.5]}, "motion": "fixed", "position": [-1.8, 0, 1.2],
                    "friction_static": 0.3, "friction_kinetic": 0.3, "color": [0.9, 0.65, 0.15]}],
        "camera": {"eye": [0.4, -4.6, 2.6], "target": [0, 0, 0.2], "fov_deg": 40},
    }
    tool = "blade"
    home = (-1.75, 1.2, 0.0)
    low, high = (-1.9, 0.3, -0.7), (1.9, 1.3, 0.7)
    speed = (1.0, 1.0, 1.5)
    spread = 0.1
    map_corner, map_cell, map_shape = (-1.8, -0.5), 0.1, (10, 36)
    goal = 0.05  # m

    def score(self) -> np.ndarray:
        return -self.batch.heights(self.map_corner, self.map_cell, self.map_shape).reshape(self.num_envs, -1).std(axis=1)

    def done(self) -> np.ndarray:
        return self._scores >= -self.goal


class Level(ToolEnv):
    """A heap on a bed is to be spread with a blade until the standard deviation of the heights is 0.05 m, a little more than a grain's radius.

    action and observation are those of Dig, with heights of (10, 36). Reward: m that the deviation shrinks."""

    vector_class = LevelVector

    @staticmethod
    def baseline(observation: dict, frames_per_action: int = 6) -> Iterator[np.ndarray]:
        """Actions of a scripted operator: each pass takes what stands above the mean from the highest place to the
        lowest. Send it each observation, as Dig.baseline."""
        seconds = frames_per_action / 60
        columns = LevelVector.map_corner[0] + LevelVector.map_cell * (np.arange(LevelVector.map_shape[1]) + 0.5)
        while True:
            profile = np.convolve(np.pad(observation["heights"].mean(axis=0), 2, "edge"), np.ones(5) / 5, "valid")
            high, low = columns[profile.argmax()], columns[profile.argmin()]
            low = np.clip(low, -1.7, 1.7)
            begin = np.clip(high - 0.6 * np.sign(low - high), -1.85, 1.85)
            edge = max(profile.mean() + 0.03, profile.max() - 0.15)
            for place in [(begin, 1.2, 0), (begin, edge + 0.25, 0), (low, edge + 0.25, 0), (low, 1.2, 0)]:
                for _ in range(60):
                    if np.abs(observation["tool"] - place).max() < 0.03:
                        break
                    observation = yield follow(observation, place, LevelVector.speed, seconds)
