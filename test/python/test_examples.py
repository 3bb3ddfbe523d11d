"""The examples run and say what docs/python.md tells of them, each made small."""
import sys

import numpy as np
from fixture import ROOT

sys.path.insert(0, str(ROOT / "python/examples"))

import batch_speed  # noqa: E402
import dig_force  # noqa: E402
import fit_friction  # noqa: E402
import five_methods  # noqa: E402


def test_dig_force(tmp_path, monkeypatch):
    monkeypatch.setitem(dig_force.SCENE["method"], "radius", 0.025)
    draft = dig_force.main(tmp_path)
    assert 100 < draft < 1500
    rows = np.loadtxt(tmp_path / "dig_force.csv", delimiter=",", skiprows=1)
    assert rows.shape == (dig_force.LOWER + dig_force.DRAW, 7) and (tmp_path / "dig_force.png").exists()


def test_fit_friction(tmp_path, monkeypatch):
    whole = fit_friction.scene

    def coarse(angle):
        scene = whole(angle)
        scene.keys["method"]["radius"] = 0.03
        return scene

    monkeypatch.setattr(fit_friction, "scene", coarse)
    monkeypatch.setattr(fit_friction, "SECONDS", 0.6)
    flat, steep = fit_friction.slope(12), fit_friction.slope(42)
    assert steep > flat + 3
    middle = (flat + steep) / 2
    (angle, found), tried = fit_friction.fit(middle, within=5)
    assert 12 < angle < 42 and abs(found - middle) < 5 and len(tried) == 3


def test_five_methods(tmp_path, monkeypatch):
    monkeypatch.setitem(five_methods.SCENE["method"], "radius", 0.035)
    results = five_methods.main(tmp_path, frames=20)
    assert list(results) == five_methods.METHODS
    for spread, picture in results.values():
        assert spread[-1] > 0.2 and picture.shape == (240, 384, 3)


def test_batch_speed(monkeypatch):
    """Resets are quick; the ratio is a matter of a quiet machine."""
    monkeypatch.setitem(batch_speed.SCENE["method"], "radius", 0.03)
    _, reset = batch_speed.main(4, 3)
    assert reset < 0.005
