"""Inner edges of a mesh: sand in the lowest corner of a turned container, smooth and rough, the container a box and a mesh
of the same size. A grain there touches up to three faces, and each of them bears its part: the bed comes to the same rest."""
import csv
import os
import subprocess
import sys
import tempfile

BOX = """v -0.3 -0.3 -0.3
v 0.3 -0.3 -0.3
v 0.3 0.3 -0.3
v -0.3 0.3 -0.3
v -0.3 -0.3 0.3
v 0.3 -0.3 0.3
v 0.3 0.3 0.3
v -0.3 0.3 0.3
f 4 3 2 1
f 5 6 7 8
f 1 2 6 5
f 2 3 7 6
f 3 4 8 7
f 4 1 5 8
"""
SOLIDS = dict(box="box: {min: [-0.3, -0.3, -0.3], max: [0.3, 0.3, 0.3]}", mesh="mesh: box.obj")
SECONDS = 5  # a bed of dem without friction rings for four
failures = 0


def run(method, solid, friction, options=()):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "box.obj"), "w") as file:
            file.write(BOX)
        path = os.path.join(folder, "scene.yaml")
        with open(path, "w") as file:
            # On a corner: turned by 54.7 degrees about the axis (1, -1, 0).
            file.write(f"""scree: 1
duration: {SECONDS}
frame_rate: 20
method: {{name: {method}, radius: 0.02}}
materials:
  sand: {{density: 1600, friction_static: {friction}, friction_kinetic: {friction}{', young: 2e6' if method == 'dem' else ''}}}
grains:
  - {{material: sand, fill: {{sphere: {{center: [0, 0, -0.3], radius: 0.1}}}}}}
boundaries:
  - {{{SOLIDS[solid]}, inside: true, rotation: [0.888074, 0.325058, -0.325058, 0], friction_static: {friction}, friction_kinetic: {friction}, name: pen}}
probes:
  - {{name: load, kind: force_on, target: pen}}
  - {{name: mass, kind: mass_in, box: {{min: [-9, -9, -9], max: [9, 9, 9]}}}}
  - {{name: energy, kind: energy}}
  - {{name: creep, kind: creep, from: {SECONDS - 1}}}
""")
        out = os.path.join(folder, "out")
        subprocess.run([os.environ.get("SCREE", "scree"), "run", path, "--output", out, "--threads", "1", "--quiet",
                        "--frames-format", "none", *options], check=True)
        with open(os.path.join(out, "probes.csv")) as file:
            return [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)][-1]


def check(what, found, most):
    global failures
    good = found <= most
    print(f"{what}: {found:.3g}, at most {most:.3g}", "" if good else "FAILED")
    failures += not good


for method in ("pbd", "p2", "dem"):
    for friction in (0, 0.5):
        found = {solid: run(method, solid, friction) for solid in SOLIDS}
        mesh, box = found["mesh"], found["box"]
        name = f"{method}, friction {friction}"
        weight = 9.81 * mesh["mass"]
        check(f"{name}: load less weight, over it", abs(mesh["load_z"] / -weight - 1), 0.01)
        check(f"{name}: creep in a second, diameters", mesh["creep"] / 0.04, max(0.002, 2 * box["creep"] / 0.04))
        # Beds that were poured alike end alike: within a tenth of a radius.
        height = abs(mesh["energy_potential"] - box["energy_potential"]) / weight
        check(f"{name}: height of the bed against that in a box, radii", height / 0.02, 0.1)
sys.exit(failures > 0)
