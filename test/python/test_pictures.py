"""Pictures without a screen: colours, depth, films, what a notebook shows."""
import math
import struct
import threading
import zlib

import numpy as np
import pytest
from fixture import BIN

import scree


@pytest.fixture(scope="module")
def world():
    with scree.World(BIN, threads=1) as made:
        made.step(frames=20)
        yield made


def test_a_picture_shows_the_soil(world):
    picture = world.render(size=(160, 120))
    assert picture.shape == (120, 160, 3) and picture.dtype == np.uint8
    middle, sky = picture[60:80, 70:90].reshape(-1, 3).mean(0), picture[:5].reshape(-1, 3).mean(0)
    assert middle[0] > middle[2] + 10, "sand is yellow"
    assert np.abs(middle - sky).max() > 20
    assert np.array_equal(picture, world.render(size=(160, 120))), "the same world gives the same picture"
    assert not np.array_equal(picture, world.render(size=(160, 120), color="speed"))
    assert world.render(size=(80, 60), supersample=True, shadows=False).shape == (60, 80, 3)


def test_depth_is_the_distance_along_the_view(world):
    """From straight above: the floor of an empty corner, and the top of the grains in the middle."""
    eye = np.array([0.0, -0.01, 2.0])
    for smooth in (False, True):
        _, depth = world.render(size=(64, 64), camera={"eye": eye, "target": [0, 0, 0], "fov_deg": 30}, depth=True,
                                supersample=smooth)
        assert depth.shape == (64, 64) and depth.dtype == np.float32
        heights = world.heights((-0.1, -0.1), 0.01, (20, 20))
        middle = depth[30:34, 30:34]
        assert 2 - heights.max() - 0.01 < middle.mean() < 2 - heights.min() + 0.01
    _, depth = world.render(size=(32, 32), camera={"eye": [0, -3, 1], "target": [0, -6, 4]}, depth=True)
    assert np.isinf(depth).any()


def test_wrong_pictures(world):
    for wrong in [{"size": (0, 10)}, {"size": (10,)}, {"size": (1e9, 10)}, {"size": (math.nan, 4)}, {"color": "taste"},
                  {"camera": {"eye": [0, 0]}}, {"camera": {"eye": [0, 0, math.nan]}}, {"camera": {"zoom": 2}},
                  {"camera": {"eye": [0, 0, 0], "target": [0, 0, 0]}}, {"range": (1,)}]:
        with pytest.raises(scree.ArgumentError):
            world.render(**{"size": (32, 32), **wrong})


def test_pictures_from_any_thread_and_of_many_worlds(world):
    seen = []
    with scree.World(BIN, threads=1, set={"materials.soil.color": [0.1, 0.2, 0.9]}) as blue:
        def draw():
            seen.append((world.render(size=(64, 48)), blue.render(size=(64, 48))))
        for _ in range(3):
            thread = threading.Thread(target=draw)
            thread.start()
            thread.join()
    for yellow_picture, blue_picture in seen:
        assert np.array_equal(yellow_picture, seen[0][0]) and np.array_equal(blue_picture, seen[0][1])
    assert seen[0][1][24, 32, 2] > seen[0][0][24, 32, 2]


def test_notebooks_see_a_png(world, tmp_path):
    data = world._repr_png_()
    assert data.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", data[16:24])
    assert (width, height) == (640, 400)
    picture = world.render(size=(20, 10))
    file = scree.save_png(picture, tmp_path / "a.png")
    body = file.read_bytes()
    start = body.index(b"IDAT") + 4
    rows = np.frombuffer(zlib.decompress(body[start:body.index(b"IEND") - 8]), np.uint8).reshape(10, 61)
    assert np.array_equal(rows[:, 1:].reshape(10, 20, 3), picture)
    with pytest.raises(scree.ArgumentError):
        scree.save_png(np.zeros((3, 3)), tmp_path / "b.png")


def test_a_film(tmp_path):
    with scree.World(BIN, threads=1) as world:
        film = world.film(tmp_path / "bin.mp4", frames=3, size=(64, 48))
        assert world.frame == 3 and film.stat().st_size > 500
        with pytest.raises(scree.ArgumentError, match="mp4"):
            world.film(tmp_path / "bin.txt", frames=1)
        with pytest.raises(scree.ArgumentError):
            world.film(tmp_path / "bad.mp4", frames=1, color="taste", size=(64, 48))
        assert not (tmp_path / "bad.mp4").exists()
