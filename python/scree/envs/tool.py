"""What the environments share: a tool that moves in the x-z plane through soil, seen as a map of heights.

ToolVector steps n of them as one Batch; ToolEnv is one of them with the shape of gymnasium.Env."""
from __future__ import annotations

from typing import Any

import numpy as np

from scree.batch import Batch
from scree.errors import ArgumentError
from scree.envs.spaces import Box, Dict

try:
    import gymnasium
    _EnvBase, _VectorBase = gymnasium.Env, gymnasium.vector.VectorEnv
except ImportError:
    _EnvBase = _VectorBase = object


class ToolVector(_VectorBase):
    """n environments side by side. reset and step have the shape of gymnasium.vector.VectorEnv; an environment that ends
    is reset in the same step, and infos["final_obs"] has what it saw last."""

    metadata = {"render_modes": ["rgb_array"], "autoreset_mode": "same_step"}
    # What an environment fills in.
    scene: dict[str, Any] = {}
    tool = "tool"
    home = (0.0, 1.0, 0.0)  # x, z (m) and pitch (rad) of the tool at the start
    low, high = (-1.0, 0.0, -np.pi), (1.0, 1.0, np.pi)  # where it may go
    speed = (1.0, 1.0, 1.5)  # of an action of 1: m/s, m/s, rad/s
    spread = 0.2  # m: the tool starts so far from home, at random
    map_corner, map_cell, map_shape = (-1.0, -1.0), 0.1, (20, 20)
    settle_frames = 60

    def __init__(self, num_envs: int = 1, *, frames_per_action: int = 6, max_steps: int = 300, threads: int = 0,
                 render_mode: str | None = None, method: str | None = None, set: dict[str, Any] | None = None):
        if render_mode not in (None, "rgb_array"):
            raise ArgumentError(f"render_mode is None or 'rgb_array', not {render_mode!r}")
        self.num_envs, self.frames_per_action, self.max_steps = num_envs, frames_per_action, max_steps
        self.render_mode = render_mode
        self.batch = Batch(self.scene, num_envs, threads=threads, method=method, set=set)
        world = self.batch[0]
        world.bodies[self.tool].target = self.pose(np.array([self.home]))[0]
        world.step(self.settle_frames)
        self.batch.start = world.keep()
        self._low, self._high, self._speed = (np.array(limits) for limits in (self.low, self.high, self.speed))
        self.single_action_space = Box(-1.0, 1.0, (3,), np.float32)
        self.single_observation_space = Dict({
            "heights": Box(-np.inf, np.inf, self.map_shape, np.float32),
            "tool": Box(self._low.astype(np.float32), self._high.astype(np.float32), dtype=np.float32),
            "force": Box(-np.inf, np.inf, (3,), np.float32)})
        self.action_space = Box(-1.0, 1.0, (num_envs, 3), np.float32)
        self.observation_space = Dict({
            name: Box(np.broadcast_to(space.low, (num_envs, *space.shape)),
                      np.broadcast_to(space.high, (num_envs, *space.shape)), dtype=np.float32)
            for name, space in self.single_observation_space.spaces.items()})
        self._places = np.tile(np.array(self.home), (num_envs, 1))
        self._steps = np.zeros(num_envs, int)
        self._scores = np.zeros(num_envs)
        self._randoms = [np.random.default_rng() for _ in range(num_envs)]

    # ---- what an environment says about itself

    def pose(self, places: np.ndarray) -> np.ndarray:
        """(n, 7) poses of the tool from x, z and pitch; a positive pitch lifts its +x end."""
        poses = np.zeros((len(places), 7))
        poses[:, 0], poses[:, 2] = places[:, 0], places[:, 1]
        poses[:, 3], poses[:, 5] = np.cos(places[:, 2] / 2), -np.sin(places[:, 2] / 2)
        return poses

    def score(self) -> np.ndarray:
        """(n,): what the reward is the change of."""
        raise NotImplementedError

    def done(self) -> np.ndarray:
        """(n,): whether the task is finished."""
        return np.zeros(self.num_envs, bool)

    # ---- the loop

    def reset(self, *, seed: int | list[int] | None = None, options: dict[str, Any] | None = None):
        """All environments from the start. seed: where the tools begin; options: {"set": {...}} as of Batch.reset."""
        if seed is not None:
            seeds = [seed + k for k in range(self.num_envs)] if isinstance(seed, (int, np.integer)) else list(seed)
            if len(seeds) != self.num_envs:
                raise ArgumentError(f"{len(seeds)} seeds for {self.num_envs} environments")
            self._randoms = [np.random.default_rng(one) for one in seeds]
        for k in range(self.num_envs):
            self._begin(k, (options or {}).get("set"))
        self._scores = self.score()
        return self._observe(), {}

    def _begin(self, k: int, changed: dict[str, Any] | None = None) -> None:
        self.batch.reset(k, set=changed)
        self._places[k] = self.home
        self._places[k, 0] += self._randoms[k].uniform(-self.spread, self.spread)
        self._steps[k] = 0

    def _observe(self) -> dict[str, np.ndarray]:
        return {"heights": self.batch.heights(self.map_corner, self.map_cell, self.map_shape),
                "tool": self._places.astype(np.float32), "force": self.batch.force(self.tool).astype(np.float32)}

    def step(self, actions):
        """One action each: velocities along x and z and of the pitch, as shares of the greatest."""
        actions = np.asarray(actions, np.float64)
        if actions.shape != (self.num_envs, 3):
            raise ArgumentError(f"actions of {self.num_envs} environments are ({self.num_envs}, 3), not {actions.shape}")
        if not np.isfinite(actions).all():
            raise ArgumentError("an action is not finite")
        per_frame = np.clip(actions, -1, 1) * self._speed / self.batch[0].frame_rate
        failed: dict[int, Exception] = {}
        for _ in range(self.frames_per_action):
            self._places = np.clip(self._places + per_frame, self._low, self._high)
            self.batch.set_target(self.tool, self.pose(self._places))
            going = [k for k in range(self.num_envs) if k not in failed]
            failed.update(self.batch.step(1, worlds=going))
        self._steps += 1
        for k in failed:
            self.batch.reset(k)  # what is left of a world that failed says nothing
        scores = self.score()
        rewards = scores - self._scores
        rewards[list(failed)] = 0
        terminations, truncations = self.done(), self._steps >= self.max_steps
        truncations[list(failed)] = True
        self._scores = scores
        observations, infos = self._observe(), {"score": scores.copy()}
        ended = np.flatnonzero(terminations | truncations)
        if len(ended):
            infos["final_obs"] = {name: value.copy() for name, value in observations.items()}
            infos["_final_obs"] = terminations | truncations
            for k in ended:
                self._begin(k)
            self._scores[ended] = self.score()[ended]
            fresh = self._observe()
            for name in observations:
                observations[name][ended] = fresh[name][ended]
        return observations, rewards, terminations, truncations, infos

    def render(self):
        """Pictures of all of them, where render_mode says so."""
        if self.render_mode != "rgb_array":
            return None
        return tuple(world.render(size=(480, 320)) for world in self.batch)

    def close(self, **_) -> None:
        """Frees the worlds."""
        self.batch.close()


class ToolEnv(_EnvBase):
    """One environment, with the shape of gymnasium.Env: reset(), step(action), observation_space, action_space."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}
    vector_class: type[ToolVector] = ToolVector

    def __init__(self, **options):
        self.vector = self.vector_class(1, **options)
        self.render_mode = self.vector.render_mode
        self.action_space = self.vector.single_action_space
        self.observation_space = self.vector.single_observation_space

    @property
    def world(self):
        """The world behind it."""
        return self.vector.batch[0]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):
        """From the start; see ToolVector.reset."""
        observation, info = self.vector.reset(seed=seed, options=options)
        return {name: value[0] for name, value in observation.items()}, info

    def step(self, action):
        """One action; when an episode has ended, reset() begins the next."""
        action = np.asarray(action, np.float64)
        if action.shape != (3,):
            raise ArgumentError(f"an action is (3,), not {action.shape}")
        observation, reward, terminated, truncated, info = self.vector.step(action[None])
        last = info.pop("final_obs", observation)
        info.pop("_final_obs", None)
        info["score"] = float(info["score"][0])
        return ({name: value[0] for name, value in last.items()}, float(reward[0]), bool(terminated[0]),
                bool(truncated[0]), info)

    def render(self):
        """A picture, where render_mode says so."""
        pictures = self.vector.render()
        return pictures[0] if pictures else None

    def close(self) -> None:
        """Frees the world."""
        self.vector.close()


def follow(observation: dict[str, np.ndarray], goal, speed, seconds: float) -> np.ndarray:
    """The action that brings the tool towards x, z and pitch in the time of one action."""
    return np.clip((np.asarray(goal) - observation["tool"]) / (np.asarray(speed) * seconds), -1, 1)
