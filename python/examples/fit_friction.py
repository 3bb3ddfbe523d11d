"""Fits friction_angle_deg to a heap that was measured: the angle of repose of a collapsed column, by bisection.

    python fit_friction.py [ANGLE] [FOLDER]        writes fit_friction.png, the heap that fits"""
import sys
from pathlib import Path

import scree
from scree.sections import Boundary, Camera, Cylinder, Grains, Material, Method, Plane, Probe

SECONDS = 1.2


def scene(angle):
    """A column 0.4 m high that falls down."""
    return scree.Scene(
        title="Collapsed column", method=Method(name="sph", radius=0.012),
        materials={"sand": Material(friction_angle_deg=angle)},
        grains=[Grains(material="sand", start="dense", fill={"cylinder": Cylinder(base=[0, 0, 0], radius=0.2, height=0.4)})],
        boundaries=[Boundary(plane=Plane(), friction_static=0.7, friction_kinetic=0.7, name="floor")],
        camera=Camera(eye=[1.1, -1.3, 0.8], target=[0, 0, 0.1], fov_deg=35),
        probes=[Probe(name="slope", kind="repose_angle")])


def slope(angle):
    """The angle of the heap's side, deg."""
    with scree.World(scene(angle)) as world:
        world.step(seconds=SECONDS)
        return world.probe("slope")


def fit(measured, low=10.0, high=45.0, within=1.0):
    """The angle whose heap has the measured slope, and that slope; and every pair that was tried."""
    tried = []
    while high - low > within:
        middle = (low + high) / 2
        tried.append((middle, slope(middle)))
        print(f"friction_angle_deg {middle:5.2f}: a slope of {tried[-1][1]:.2f} deg")
        low, high = (middle, high) if tried[-1][1] < measured else (low, middle)
    return min(tried, key=lambda pair: abs(pair[1] - measured)), tried


def main(measured, folder):
    (angle, found), tried = fit(measured)
    print(f"measured {measured} deg: friction_angle_deg = {angle:.2f} gives {found:.2f} deg")
    with scree.World(scene(angle)) as world:
        world.step(seconds=SECONDS)
        scree.save_png(world.render(size=(960, 540), supersample=True), folder / "fit_friction.png")
    return angle, found, tried


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 14.0, Path(sys.argv[2] if len(sys.argv) > 2 else "."))
