"""World: steps, views, bodies, controls, probes, saving; and every way in which a call can be wrong."""
import gc
import json
import math
import os
import subprocess
import threading
import time
import weakref

import numpy as np
import pytest
from fixture import BIN

import scree


@pytest.fixture
def world():
    with scree.World(BIN, threads=1) as made:
        yield made


def test_a_world_steps_and_shows_its_grains(world):
    assert world.method == "pbd" and world.frame == 0 and world.materials == ["soil"]
    n = len(world.grains)
    assert n > 200
    start = world.grains.position
    assert start.shape == (n, 3) and start.dtype == np.float64
    world.step(frames=3)
    assert world.frame == 3 and world.time == pytest.approx(0.05) and world.steps >= 3
    grains = world.grains
    for name, kind in [("x", "f4"), ("vz", "f4"), ("radius", "f4"), ("id", "u4"), ("material", "u1")]:
        view = getattr(grains, name)
        assert view.shape == (n,) and view.dtype == np.dtype(kind)
    assert np.allclose(grains.position[:, 2], grains.z + grains.origin[2])
    assert grains.velocity.shape == (n, 3)
    assert sorted(grains.id.copy()) == list(range(1, n + 1)) or len(set(grains.id.copy())) == n
    assert np.unique(grains.material).tolist() == [0]
    assert grains.pressure.shape == (n,) and np.isfinite(grains.pressure).all() and grains.pressure.max() > 0
    assert len(world.fine) == 0 and world.fine.x.copy().size == 0 and world.fine.position.shape == (0, 3)


def test_steps_and_seconds(world):
    world.step(steps=1)
    assert world.steps == 1
    world.step()
    world.step(seconds=0.1)
    assert world.frame == 7
    world.step(frames=0)
    assert world.frame == 7


def test_views_work_as_arrays(world):
    x = world.grains.x
    plain = x.copy()
    assert type(plain) is np.ndarray
    assert np.array_equal(x[:5], plain[:5]) and x[3] == plain[3] and len(x) == len(plain)
    assert type(x + 1) is np.ndarray and np.array_equal(2 * x - x, 2 * plain - plain)
    assert x.mean() == plain.mean() and np.mean(x) == plain.mean() and np.max(x) == plain.max()
    assert np.array_equal(np.stack([x, world.grains.y], 1)[:, 0], plain)
    assert np.array_equal(np.asarray(x), plain) and np.array_equal(x[x > 0], plain[plain > 0])
    assert np.array_equal(x.reshape(-1, 1)[:, 0], plain) and (x > 0).dtype == bool
    # What comes out shares no memory with the world.
    for taken in (x[2:9], x[...], x.reshape(-1), np.ravel(x), np.asarray(x), x.T):
        assert taken.flags.owndata or taken.base is None or taken.base.flags.owndata
        assert not np.may_share_memory(taken, x._raw)
    with pytest.raises(ValueError):
        x[0] = 1
    with pytest.raises(ValueError):
        np.add(x, 1, out=x)
    with pytest.raises(AttributeError):
        x.data
    with pytest.raises(AttributeError):
        x.setflags(write=True)


@pytest.mark.parametrize("use", [
    lambda v: v[0], lambda v: v + 1, lambda v: np.sum(v), lambda v: v.mean(), lambda v: len(v), lambda v: list(v),
    lambda v: np.asarray(v), lambda v: v.copy(), lambda v: v.shape, lambda v: np.stack([v, v]), lambda v: v == v])
def test_a_view_that_outlives_a_step_raises(world, use):
    view = world.grains.x
    use(view)
    kept = world.grains.array("x", copy=True)
    world.step()
    with pytest.raises(scree.StaleViewError):
        use(view)
    assert "moved on" in repr(view)
    assert kept.shape == (len(world.grains),)
    use(world.grains.x)


def test_views_end_with_reset_and_close(world):
    start, view = world.keep(), world.grains.z
    world.reset(start)
    with pytest.raises(scree.StaleViewError):
        view.mean()
    view = world.grains.z
    world.close()
    with pytest.raises(scree.StaleViewError):
        view.mean()


def test_bodies_move_and_feel(world):
    assert list(world.bodies) == ["bin", "blade", "ball"] and len(world.bodies) == 3
    blade, ball = world.bodies["blade"], world.bodies["ball"]
    assert world.bodies["bin"].is_boundary and not blade.is_boundary and world.bodies[1].name == "blade"
    assert blade.mass == 0 and ball.mass == pytest.approx(2000 * 4 / 3 * math.pi * 0.06**3, rel=0.01)
    for k in range(20):
        blade.target = [-0.3, 0, 0.4 - 0.015 * k]
        world.step()
    for k in range(15):
        blade.target = scree.Pose([-0.3 + 0.01 * k, 0, 0.115], [1, 0, 0, 0])
        world.step()
    assert blade.pose.position == pytest.approx([-0.16, 0, 0.115])
    assert blade.pose.rotation == pytest.approx([1, 0, 0, 0])
    assert blade.force[0] < -5, "soil holds the blade back"
    assert blade.torque.shape == (3,)
    assert world.bodies["bin"].force[2] < -100, "the bin carries the soil"
    vertices, triangles = blade.mesh
    assert vertices.shape[1] == 3 and triangles.max() < len(vertices)
    assert np.ptp(vertices, axis=0) == pytest.approx([0.04, 0.3, 0.2])


def test_free_bodies_take_velocities_and_loads(world):
    ball = world.bodies["ball"]
    ball.target = ([0, 0, 0.6], [0, 0, 0, 2])  # made a unit quaternion
    assert ball.pose.rotation == pytest.approx([0, 0, 0, 1])
    ball.velocity, ball.spin = [1, 0, 0], [0, 0, 3]
    assert ball.velocity == pytest.approx([1, 0, 0]) and ball.spin == pytest.approx([0, 0, 3])
    ball.apply(force=[0, 0, 9.81 * ball.mass])
    world.step(frames=6)
    assert ball.pose.position == pytest.approx([0.1, 0, 0.6], abs=1e-6)


def test_controls_of_a_mechanism():
    with scree.World("sommer2022/excavator", threads=1, set={"method.radius": 0.05, "upsample.radius": 0.05}) as world:
        controls = world.mechanism.controls
        assert "boom" in controls and len(controls) == len(list(controls))
        low, high = controls.range("boom")
        assert low < high
        controls["boom"] = 0.4
        assert controls["boom"] == 0.4
        world.step(frames=2)
        assert controls["boom"] == 0.4
        del controls["boom"]
        world.step()
        assert controls["boom"] != 0.4
        with pytest.raises(KeyError, match="did you mean 'boom'"):
            controls["bom"] = 1
        with pytest.raises(scree.ArgumentError):
            controls["boom"] = math.nan
        assert "bucket" in world.bodies and world.bodies["bucket"].force.shape == (3,)
        assert len(world.fine) > 0 and world.fine.position.shape == (len(world.fine), 3)
        assert world.probe("bucket_force").shape == (3,)
        with pytest.raises(scree.StaleViewError):
            view = world.fine.x
            world.step()
            view[0]


def test_probes_report_and_hash(world):
    world.step(frames=2)
    assert set(world.probe("energy")) == {"kinetic", "potential"}
    assert world.probe("load").shape == (3,) and world.probe("inside") > 10
    assert world.probes.keys() == {"energy", "load", "inside", "ball"}
    assert set(world.probe("ball")) >= {"x", "qw", "vx", "wx"}
    with pytest.raises(KeyError, match="did you mean 'energy'"):
        world.probe("energi")
    report = world.report()
    assert report["frames"] == 2 and report["state_hash"] == world.state_hash and len(world.state_hash) == 16
    json.dumps(report)


def test_the_report_has_the_keys_of_report_json(world, tmp_path):
    """And the same hash as the program's run of the same scene."""
    scene = scree.Scene(**BIN)
    (tmp_path / "bin.yaml").write_text(scene.to_yaml())
    subprocess.run([os.environ["SCREE"], "run", tmp_path / "bin.yaml", "-o", tmp_path / "out", "--frames", "4", "--quiet"],
                   check=True)
    theirs = json.loads((tmp_path / "out/report.json").read_text())
    world.step(frames=4)
    ours = world.report()
    assert set(theirs) <= set(ours) | {"bus_kb_per_step", "device_memory_peak_mb"}
    for key in ("state_hash", "steps", "particles", "mass", "max_overlap", "warnings", "grains_hash", "method"):
        assert ours[key] == theirs[key], key
    assert ours["probes"]["energy"]["last"] == theirs["probes"]["energy"]["last"]
    # A folder of a run goes on in Python.
    with scree.load(tmp_path / "out", threads=1) as again:
        assert again.frame == 4 and again.state_hash == theirs["state_hash"]


def test_the_same_bits_for_any_number_of_threads(world):
    world.step(frames=3)
    with scree.World(BIN, threads=2) as other:
        other.step(frames=3)
        assert other.state_hash == world.state_hash
    with scree.World(BIN, threads=1, seed=2) as other:
        other.step(frames=3)
        assert other.state_hash != world.state_hash


def test_save_and_load_go_on_bit_for_bit(world, tmp_path):
    world.step(frames=2)
    world.save(tmp_path / "kept.scree")
    world.step(frames=3)
    with scree.load(tmp_path / "kept.scree", threads=1) as again:
        assert again.frame == 2 and again.scene == world.scene
        again.step(frames=3)
        assert again.state_hash == world.state_hash
    with scree.World("sommer2022/hourglass", method="p2", set={"method.radius": 0.06, "upsample.radius": 0.06}) as glass:
        glass.step()
        glass.save(tmp_path / "glass")
        hashes = glass.state_hash, glass.grains_hash
    with scree.load(tmp_path / "glass") as again:  # its mesh comes along
        assert (again.state_hash, again.grains_hash) == hashes and again.method == "p2"
        again.save(tmp_path / "twice")
    (tmp_path / "bad").write_text("no world")
    with pytest.raises(scree.InputError, match="no world that scree has saved"):
        scree.load(tmp_path / "bad")
    with pytest.raises(scree.InputError):
        scree.load(tmp_path / "absent")
    with pytest.raises(scree.InputError, match="checkpoint.scree"):
        scree.load(tmp_path)
    with pytest.raises(OSError):
        world.save(tmp_path / "no/such/folder/file")


def test_keep_and_reset(world):
    start = world.keep()
    world.step(frames=3)
    first = world.state_hash
    world.reset(start)
    assert world.frame == 0 and start.bytes > 10000
    world.step(frames=3)
    assert world.state_hash == first
    with pytest.raises(TypeError):
        world.reset("start")
    with scree.World(BIN, method="dem", threads=1) as other, pytest.raises(scree.InputError):
        other.reset(start)
    world.reset(start)
    world.step(steps=1)
    if world.frame == 0:
        with pytest.raises(scree.ArgumentError, match="between frames"):
            world.keep()


def test_heights(world):
    world.step(frames=30)
    heights = world.heights(corner=(-0.4, -0.2), cell=0.02, shape=(20, 40), empty=-1)
    assert heights.shape == (20, 40) and heights.dtype == np.float32
    assert 0.1 < np.median(heights) < 0.3
    top = (world.grains.position[:, 2] + world.grains.radius.copy()).max()
    assert heights.max() <= top + 1e-6
    # The slow way: every cell against every grain.
    p, r = world.grains.position, world.grains.radius.copy().astype(float)
    x, y = -0.4 + (np.arange(40) + 0.5) * 0.02, -0.2 + (np.arange(20) + 0.5) * 0.02
    left = r**2 - (x[None, :, None] - p[:, 0])**2 - (y[:, None, None] - p[:, 1])**2
    slow = np.where(left >= 0, p[:, 2] + np.sqrt(np.maximum(left, 0)), -1).max(axis=2)
    assert np.abs(slow - heights).max() < 1e-5
    assert (world.heights((5, 5), 0.1, (2, 3), empty=7) == 7).all()
    for wrong in [dict(corner=(0, 0), cell=0, shape=(2, 2)), dict(corner=(0, math.nan), cell=1, shape=(2, 2)),
                  dict(corner=(0, 0), cell=1, shape=(0, 2)), dict(corner=(0, 0, 0), cell=1, shape=(2, 2)),
                  dict(corner=(0, 0), cell=1, shape=(2, -2))]:
        with pytest.raises(scree.ArgumentError):
            world.heights(**wrong)


def test_terrain_is_a_mesh_and_counts_in_heights():
    scene = {"method": {"name": "dem", "radius": 0.05}, "materials": {"sand": {}},
             "terrain": {"material": "sand", "origin": [-1, -1], "size": [2, 2], "cell": 0.1, "height": 0.3}}
    with scree.World(scene, threads=1) as world:
        vertices, triangles = world.terrain
        assert len(vertices) == 400 and triangles.max() < 400
        assert world.heights((-1, -1), 0.1, (20, 20)) == pytest.approx(np.full((20, 20), 0.3), abs=0.01)
        assert len(world.grains) == 0 and world.grains.position.shape == (0, 3) and world.grains.pressure.size == 0


def test_impulse(world):
    world.impulse([0, 0, 0.1], 0.1, 5)
    assert world.grains.velocity.max() > 1
    with pytest.raises(scree.ArgumentError):
        world.impulse([0, 0, math.inf], 0.1, 5)


def test_gravity_turns(world):
    assert world.gravity == pytest.approx([0, 0, -9.81])
    world.step(frames=5)
    world.gravity = [3, 0, 5]
    world.step(frames=5)
    assert world.gravity == pytest.approx([3, 0, 5])
    assert world.grains.velocity[:, 2].mean() > 0.1
    for bad in ([0, 0], [0, 0, math.nan], "down"):
        with pytest.raises(scree.ArgumentError):
            world.gravity = bad


def test_materials_change(world):
    name = world.materials[0]
    world.set_material(name, friction_angle_deg=25, friction_static="auto", color=[1, 0, 0])
    assert "friction_angle_deg: 25" in world.understood()
    for keys in ({"friction_angle": 25}, {"friction_angle_deg": math.inf}, {"friction_angle_deg": 1000}, {"density": 1}):
        with pytest.raises(scree.Error):
            world.set_material(name, **keys)
    with pytest.raises(scree.ArgumentError, match="no material"):
        world.set_material("gold")


@pytest.mark.parametrize("pose", [[0, 0], [0, 0, math.nan], np.zeros((2, 3)), "here", [0, 0, 0, 0], None,
                                  ([0, 0, 0], [0, 0, 0, 0]), ([0, 0, 0], [1, 0, 0]), [0, 0, 0, 1, 0, 0, math.inf]])
def test_a_pose_has_its_shape_and_finite_numbers(world, pose):
    with pytest.raises(scree.ArgumentError):
        world.bodies["blade"].target = pose


def test_wrong_calls(world):
    with pytest.raises(KeyError, match="did you mean 'blade'"):
        world.bodies["blad"]
    with pytest.raises(scree.ArgumentError, match="did you mean"):
        world.grains.array("radi")
    for wrong in (-1, 1.5, "2", True, math.nan):
        with pytest.raises(scree.ArgumentError):
            world.step(frames=wrong)
    with pytest.raises(scree.ArgumentError):
        world.step(frames=1, steps=1)
    with pytest.raises(scree.ArgumentError):
        world.bodies["ball"].velocity = [1, 2]
    with pytest.raises(scree.ArgumentError):
        world.bodies["ball"].apply(force=[0, 0, math.nan])
    with pytest.raises(scree.ArgumentError):
        scree.World(BIN, threads=-1)
    with pytest.raises(TypeError):
        scree.World(42)
    with pytest.raises(AttributeError):
        world.bodies["ball"].frce = 3  # a typing error is not swallowed
    with pytest.raises(AttributeError):
        world.grains.positon


def test_use_after_close(world):
    body, grains, controls = world.bodies["ball"], world.grains, world.mechanism.controls
    world.close()
    world.close()
    assert world.closed and "closed" in repr(world)
    for use in (world.step, world.report, world.keep, lambda: world.time, lambda: world.state_hash, lambda: body.force,
                lambda: grains.x, lambda: len(grains), lambda: list(controls), lambda: world.save("x"),
                lambda: world.render(), lambda: world.heights((0, 0), 1, (1, 1)), lambda: world.probe("energy")):
        with pytest.raises(scree.ClosedError):
            use()


def test_a_step_in_two_threads_at_once(world):
    """The second gets BusyError; the interpreter's lock is free meanwhile."""
    view, enough, stepped, turned_away = world.grains.x, threading.Event(), [0, 0], 0

    def run():
        while not enough.is_set():
            try:
                world.step(frames=20)
                stepped[0] += 20
            except scree.BusyError:  # the other was first
                pass

    thread = threading.Thread(target=run)
    thread.start()
    while turned_away < 4:
        try:
            world.step()
            stepped[1] += 1
        except scree.BusyError:
            turned_away += 1
            with pytest.raises((scree.BusyError, scree.StaleViewError)):
                view[0]
        time.sleep(0.002)
    enough.set()
    thread.join()
    assert stepped[0] > 0 and world.frame == sum(stepped)


def test_a_blow_up_is_an_exception(world):
    """The message is the one that the program prints; the world can be reset."""
    start = world.keep()
    world.bodies["ball"].apply(force=[0, 0, -1e15])  # the floor holds the ball; the grains between them fly
    with pytest.raises(scree.SimulationError, match="blew up"):
        world.step(frames=5)
    world.reset(start)
    world.step()


def test_a_body_pushed_hard_stays_in_its_box(world):
    """The floor is farther away than three walls when the push begins, and within reach of one step."""
    world.bodies["ball"].apply(force=[0, 0, -1e5])
    world.step(frames=10)
    assert world.probe("ball")["z"] > 0.9 * 0.06


def test_a_limit_of_memory():
    with pytest.raises(scree.Error, match="would need|memory"):
        scree.World(BIN, memory_limit=100_000)


def test_a_world_goes_with_its_last_reference():
    """Also when its grains, bodies and motors were looked at, and without the collector of cycles."""
    world = scree.World(BIN)
    gone = weakref.ref(world)
    x, ball, names = world.grains.x, world.bodies["ball"], list(world.mechanism.controls)
    gc.disable()
    try:
        del world
        assert gone() is not None and len(x) > 0 and ball.name == "ball" and names == []
        del x, ball
        assert gone() is None
    finally:
        gc.enable()


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_a_thousand_worlds_leave_nothing_behind():
    """Create, step, look, close; every second one is left to its last reference. What stays is less than a kilobyte each."""
    scene = scree.Scene(method={"name": "pbd", "radius": 0.05}, materials={"sand": {}},
                        grains=[{"fill": {"box": {"min": [0, 0, 0], "max": [0.3, 0.3, 0.3]}}}],
                        bodies=[{"name": "ball", "sphere": {"radius": 0.1}, "position": [0, 0, 1]}])

    def one(k):
        world = scree.World(scene, threads=1)
        world.step()
        start, _ = world.keep(), world.grains.x
        world.reset(start)
        if k % 2:
            world.close()

    for k in range(100):
        one(k)
    gc.collect()
    before = resident()
    for k in range(1000):
        one(k)
    gc.collect()
    grown = resident() - before
    assert grown < 1000 * 1024, f"{grown / 1000:.0f} bytes a world"
