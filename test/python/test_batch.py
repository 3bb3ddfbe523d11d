"""Batch: many worlds side by side, each as it would be alone; resets from a kept start."""
import math

import numpy as np
import pytest
from fixture import BIN

import scree

FRAMES = 4


@pytest.fixture
def batch():
    with scree.Batch(BIN, 5, threads=2) as made:
        yield made


def poses(batch, frame):
    """Another path for each blade."""
    n = len(batch)
    return np.stack([np.full(n, -0.3), np.zeros(n), 0.4 - 0.02 * frame * (1 + np.arange(n))], axis=1)


def test_each_world_has_the_bits_of_one_alone(batch):
    for frame in range(FRAMES):
        batch.set_target("blade", poses(batch, frame))
        assert batch.step() == {}
    assert len(set(batch.state_hash)) == len(batch)
    for i in range(len(batch)):
        with scree.World(BIN, threads=2) as alone:
            for frame in range(FRAMES):
                alone.bodies["blade"].target = poses(batch, frame)[i]
                alone.step()
            assert alone.state_hash == batch.state_hash[i]


def test_reset_of_single_worlds(batch):
    first = batch.state_hash[0]
    batch.step(FRAMES)
    moved = batch.state_hash[0]
    batch.reset(2)
    assert batch.state_hash[2] == first and batch.state_hash[1] == moved
    assert batch.time.tolist() == pytest.approx([FRAMES / 60] * 2 + [0] + [FRAMES / 60] * 2)
    batch.step(FRAMES, worlds=[2])
    assert set(batch.state_hash) == {moved}
    batch.reset()
    assert set(batch.state_hash) == {first}


def test_reset_with_other_numbers_is_a_world_with_them_on_the_same_grains(batch):
    batch.reset(1, set={"materials.soil.friction_static": 0.1, "materials.soil.friction_kinetic": 0.1}, seed=9)
    assert batch[1].grains.position == pytest.approx(batch[0].grains.position)
    batch.step(FRAMES)
    assert batch.state_hash[1] != batch.state_hash[0] == batch.state_hash[2]
    slippery = scree.Scene.from_yaml(batch[1].understood())
    assert slippery.keys["materials"]["soil"]["friction_static"] == 0.1 and slippery.keys["seed"] == 9
    batch.reset(1)  # without them the scene's own count again
    batch.reset(0)
    batch.step(FRAMES, worlds=[0, 1])
    assert batch.state_hash[1] == batch.state_hash[0]
    for path in ("method.radius", "method.name", "materials.soil.density", "bodies.0.position", "grains.0.start"):
        with pytest.raises(scree.ArgumentError, match="part of the kept start"):
            batch.reset(1, set={path: 1})


def test_a_settled_start(batch):
    batch.step(20, worlds=[0])
    batch.start = batch[0].keep()
    settled = batch.state_hash[0]
    batch.reset()
    assert set(batch.state_hash) == {settled}
    with scree.Batch(BIN, 2, start=batch.start) as other:
        assert set(other.state_hash) == {settled}
        batch.step(3)
        other.step(3)
        assert other.state_hash == batch.state_hash[:2]


def test_results_are_stacked(batch):
    batch.step(2)
    n = len(batch)
    assert batch.force("bin").shape == (n, 3) and batch.torque("ball").shape == (n, 3)
    assert batch.pose("blade").shape == (n, 7) and batch.heights((-0.4, -0.2), 0.1, (4, 8)).shape == (n, 4, 8)
    assert batch.probe("inside").shape == (n,) and batch.probe("load").shape == (n, 3)
    assert batch.probe("energy").shape == (n, 2) and (batch.memory > 10000).all()
    assert [world.frame for world in batch] == [2] * n and batch[-1] is batch[n - 1]


def test_a_world_that_fails_stops_alone(batch):
    batch[3].bodies["ball"].apply(force=[0, 0, -1e15])
    failed = batch.step(3)
    assert list(failed) == [3] and isinstance(failed[3], scree.SimulationError)
    assert [world.frame for world in batch][:3] == [3, 3, 3]
    batch.reset(3)
    batch.reset(0)
    assert batch.step(2, worlds=[0, 3]) == {} and batch.state_hash[0] == batch.state_hash[3]


def test_wrong_calls(batch):
    for wrong in (0, -1, 2.5, "three"):
        with pytest.raises(scree.ArgumentError):
            scree.Batch(BIN, wrong)
    with pytest.raises(scree.ArgumentError):
        scree.Batch(BIN, 2, threads=-1)
    for wrong in (np.zeros((4, 3)), np.zeros((5, 4)), np.zeros(3), np.full((5, 3), math.nan)):
        with pytest.raises(scree.ArgumentError):
            batch.set_target("blade", wrong)
    with pytest.raises(KeyError):
        batch.set_target("shovel", np.zeros((5, 3)))
    with pytest.raises(scree.ArgumentError):
        batch.step(-1)
    with pytest.raises(scree.ArgumentError, match="once"):
        batch.step(1, worlds=[1, 1])
    with pytest.raises(IndexError):
        batch.step(1, worlds=[7])
    with pytest.raises(IndexError):
        batch.reset(7)
    view = batch[0].grains.x
    batch.step()
    with pytest.raises(scree.StaleViewError):
        view[0]
    batch[1].close()
    with pytest.raises(scree.ClosedError):
        batch.step()
    batch.close()
