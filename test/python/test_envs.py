"""Environments: the shape of Gymnasium, one and many, scripted baselines that do the work."""
import math

import numpy as np
import pytest
from fixture import ROOT  # noqa: F401  (finds the package)

import scree
from scree.envs import Dig, DigVector, Level, LevelVector

SMALL = {"method.radius": 0.1}


@pytest.mark.parametrize("cls", [Dig, Level])
def test_an_environment_has_the_shape_of_gymnasium(cls):
    env = cls(max_steps=3, render_mode="rgb_array", set=SMALL)
    observation, info = env.reset(seed=3)
    assert env.observation_space.contains(observation) and info == {}
    assert observation["heights"].max() > 0.1 and observation["force"].shape == (3,)
    for k in range(3):
        action = env.action_space.sample()
        assert env.action_space.contains(action)
        observation, reward, terminated, truncated, info = env.step(action)
        assert env.observation_space.contains(observation) and isinstance(reward, float)
        assert terminated is False and truncated is (k == 2)
    assert env.render().shape == (320, 480, 3)
    again, _ = env.reset(seed=3)
    first, _ = env.reset(seed=3)
    assert all(np.array_equal(again[name], first[name]) for name in again)
    other, _ = env.reset(seed=4)
    assert not np.array_equal(other["tool"], first["tool"])
    env.reset(options={"set": {"materials.soil.friction_static": 0.2}})
    for wrong in ([0, 0], [0, 0, math.nan], np.zeros((1, 3))):
        with pytest.raises(scree.ArgumentError):
            env.step(wrong)
    env.close()
    with pytest.raises(scree.ClosedError):
        env.reset()
    with pytest.raises(scree.ArgumentError):
        cls(render_mode="human")


def run(env, steps):
    """Rewards of the baseline."""
    observation, _ = env.reset(seed=0)
    operator, total = type(env).baseline(observation), 0.0
    action = next(operator)
    for _ in range(steps):
        observation, reward, terminated, truncated, _ = env.step(action)
        total += reward
        if terminated or truncated:
            return total, terminated
        action = operator.send(observation)
    return total, False


def test_the_digger_moves_soil():
    """The first scoop; docs/python.md tells of the half cubic metre."""
    env = Dig(set=SMALL)
    total, _ = run(env, 70)
    assert total > 0.1
    env.close()


def test_the_blade_levels():
    env = Level()
    total, _ = run(env, 95)
    assert total > 0.04, "the deviation of the heights is a third less"
    env.close()


def test_many_at_once_are_each_as_one(monkeypatch):
    many = LevelVector(3, max_steps=4, set=SMALL, threads=2)
    one = Level(max_steps=4, set=SMALL)
    observations, _ = many.reset(seed=[5, 6, 7])
    alone, _ = one.reset(seed=6)
    assert many.observation_space.contains(observations)
    actions = np.array([[0.5, -1, 0.2], [-1, -1, -0.5], [0, 0, 1]])
    for k in range(3):
        observations, rewards, terminations, truncations, infos = many.step(actions)
        alone, reward, *_ = one.step(actions[1])
        assert rewards[1] == reward and all(np.array_equal(observations[name][1], alone[name]) for name in alone)
    assert not truncations.any()
    observations, rewards, terminations, truncations, infos = many.step(actions)
    assert truncations.all() and infos["final_obs"]["heights"].shape == observations["heights"].shape
    alone, *_ = one.step(actions[1])
    assert np.array_equal(infos["final_obs"]["tool"][1], alone["tool"])
    assert (many.batch.time == many.batch[0].time).all()
    # A world that blows up ends its episode and no other.
    failing = many.batch.step
    monkeypatch.setattr(many.batch, "step", lambda frames, worlds: {
        **failing(frames, [k for k in worlds if k != 2]), **({2: scree.SimulationError("blew up")} if 2 in worlds else {})})
    _, rewards, _, truncations, _ = many.step(actions)
    assert truncations.tolist() == [False, False, True] and rewards[2] == 0
    with pytest.raises(scree.ArgumentError):
        many.step(actions[:2])
    with pytest.raises(scree.ArgumentError):
        many.reset(seed=[1])
    many.close()
    one.close()
    DigVector(2, set=SMALL).close()
