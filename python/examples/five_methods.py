"""One column of sand collapses with five methods: how far it spreads, over time.

    python five_methods.py [FOLDER]        writes five_methods.png: the heaps, and a plot where matplotlib is there"""
import sys
from pathlib import Path

import numpy as np

import scree

METHODS = ["pbd", "p2", "dem", "sph", "flip"]
SCENE = {
    "title": "Collapse", "frame_rate": 60, "method": {"name": "pbd", "radius": 0.014},
    "materials": {"sand": {"friction_angle_deg": 33}},
    "grains": [{"fill": {"cylinder": {"base": [0, 0, 0], "radius": 0.2, "height": 0.3}}, "start": "dense"}],
    "boundaries": [{"plane": {}, "friction_static": 0.6, "friction_kinetic": 0.55, "name": "floor"}],
    "probes": [{"name": "spread", "kind": "runout", "fraction": 0.95}],
    "camera": {"eye": [0.9, -1.1, 0.7], "target": [0, 0, 0.08], "fov_deg": 38},
}


def collapse(method, frames, size=(384, 240)):
    """Spread over time, and a picture of the end."""
    spread = []
    with scree.World(SCENE, method=method) as world:
        for _ in range(frames):
            world.step()
            spread.append(world.probe("spread"))
        return np.array(spread), world.render(size=size)


def main(folder, frames=60):
    results = {method: collapse(method, frames) for method in METHODS}
    for method, (spread, _) in results.items():
        print(f"{method:5s} {spread[-1]:.3f} m, {spread[-1] / 0.2:.2f} times the column's radius")
    scree.save_png(np.hstack([picture for _, picture in results.values()]), folder / "five_methods_heaps.png")
    try:
        from matplotlib import pyplot
    except ImportError:
        return results
    figure, axes = pyplot.subplots(figsize=(7, 3.4), layout="constrained")
    for method, (spread, _) in results.items():
        axes.plot((np.arange(len(spread)) + 1) / 60, spread, label=method)
    axes.set(xlabel="time, s", ylabel="radius that holds 95 % of the mass, m")
    axes.legend()
    figure.savefig(folder / "five_methods.png", dpi=110)
    return results


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
