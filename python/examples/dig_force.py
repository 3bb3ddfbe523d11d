"""Digs with a blade and reads the force: a bin of soil, a blade that is lowered and drawn through it.

    python dig_force.py [FOLDER]        writes dig_force.png (what it looks like) and dig_force.csv"""
import csv
import sys
from pathlib import Path

import numpy as np

import scree

SCENE = {
    "title": "A blade in soil", "frame_rate": 60,
    "method": {"name": "pbd", "radius": 0.015},
    "materials": {"soil": {"friction_angle_deg": 33, "color": [0.55, 0.42, 0.28]}},
    "grains": [{"fill": {"box": {"min": [-0.6, -0.25, 0], "max": [0.6, 0.25, 0.2]}}, "start": "dense"}],
    "boundaries": [{"name": "bin", "box": {"min": [-0.6, -0.25, 0], "max": [0.6, 0.25, 1]}, "inside": True}],
    "bodies": [{"name": "blade", "box": {"size": [0.04, 0.3, 0.2]}, "motion": "fixed", "position": [-0.4, 0, 0.4],
                "color": [0.9, 0.65, 0.15]}],
    "camera": {"eye": [1.1, -1.3, 0.9], "target": [0, 0, 0.12], "fov_deg": 35},
}
LOWER, DRAW = 30, 75  # frames


def path(frame):
    """Lowered 0.2 m, then drawn at 0.5 m/s."""
    lowered, drawn = min(frame / LOWER, 1), max(frame - LOWER, 0) / 60
    return [-0.4 + 0.5 * drawn, 0, 0.4 - 0.2 * lowered]


def main(folder):
    rows = []
    with scree.World(SCENE) as world:
        blade = world.bodies["blade"]
        for frame in range(1, LOWER + DRAW + 1):
            blade.target = path(frame)
            world.step()
            rows.append([world.time, *blade.pose.position, *blade.force])
        scree.save_png(world.render(size=(960, 540), supersample=True), folder / "dig_force.png")
    with open(folder / "dig_force.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["time", "x", "y", "z", "fx", "fy", "fz"])
        writer.writerows(rows)
    forces = np.array(rows)[LOWER + 15:, 4:]
    print(f"draft {-forces[:, 0].mean():.0f} N, lift {forces[:, 2].mean():.0f} N, drawn at 0.5 m/s, 0.1 m deep")
    return -forces[:, 0].mean()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
