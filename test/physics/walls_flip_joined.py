"""Floors of touching solids in flip hold like one plate: nothing passes, they bear the weight within 1 %, and the bed
lies as high as on the plate, whatever the width, the place on the grid and the tilt of the parts."""
import csv
import math
import os
import subprocess
import sys
import tempfile

PROGRAM = os.environ.get("SCREE", "scree")
FRICTION = "friction_static: 0.5"
DEEP = 0.06  # m, of a floor
UNDER = -0.13  # below every floor
SAME = 0.01  # of the mass in the lower half: a hundredth of a cell's height would be 0.001


def turned(axis, angle, v):
    """v turned about the axis with that number."""
    a, b = (axis + 1) % 3, (axis + 2) % 3
    c, s = math.cos(angle), math.sin(angle)
    w = list(v)
    w[a], w[b] = c * v[a] - s * v[b], s * v[a] + c * v[b]
    return w


def pose(low, high, axis, degrees, lift=0.0):
    angle = math.radians(degrees)
    at = turned(axis, angle, [(a + b) / 2 for a, b in zip(low, high)])
    at[2] += lift
    rotation = [math.cos(angle / 2), 0, 0, 0]
    rotation[1 + axis] = math.sin(angle / 2)
    return f"position: {at}, rotation: {rotation}"


def part(low, high, name, axis=1, degrees=0.0):
    half = [(b - a) / 2 for a, b in zip(low, high)]
    box = f"box: {{min: {[-v for v in half]}, max: {half}}}"
    return f"{{{box}, {pose(low, high, axis, degrees)}, {FRICTION}, name: {name}}}"


def lifted(low, high, name):
    keys = ", ".join(f"{{t: {t}, {pose(low, high, 1, 0, z)}}}" for t, z in ((0, 0), (0.2, 0), (0.7, DEEP)))
    return f"{{name: {name}, box: {{size: {[b - a for a, b in zip(low, high)]}}}, {FRICTION}, motion: keyframes, keys: [{keys}]}}"


def slats(count, make=part, half=0.2, **turn):
    wide = 2 * half / count
    return [make((-half + i * wide, -half, -DEEP), (-half + (i + 1) * wide, half, 0), f"s{i}", **turn) for i in range(count)]


def tiles(columns, rows):
    wide, deep, half = 0.26 / columns, 0.26 / rows, 0.13
    return [part((-half + i * wide, -half + j * deep, -DEEP), (-half + (i + 1) * wide, -half + (j + 1) * deep, 0), f"t{i}_{j}")
            for i in range(columns) for j in range(rows)]


def bricks():
    return [part((0.02 * i - 0.14 + 0.01 * (k % 2), -0.13, -0.02 * (k + 1)), (0.02 * i - 0.12 + 0.01 * (k % 2), 0.13, -0.02 * k),
                 f"b{i}_{k}") for k in range(3) for i in range(14)]


def run(walls, bodies):
    names = [w.split("name: ")[1].split(",")[0].rstrip("}") for w in walls + bodies]
    pen = "{box: {min: [-0.12, -0.12, -1], max: [0.12, 0.12, 2]}, inside: true, friction_static: 0, name: pen}"
    lines = ["scree: 1", "title: Joined", "duration: 1", "frame_rate: 20", "method: {name: flip, radius: 0.005}",
             "materials:", "  sand: {density: 1600, friction_angle_deg: 30}", "grains:",
             "  - {material: sand, fill: {box: {min: [-0.12, -0.12, 0.03], max: [0.12, 0.12, 0.15]}}, start: dense}",
             "boundaries:"] + [f"  - {w}" for w in walls + [pen]]
    lines += ["bodies:"] + [f"  - {b}" for b in bodies] if bodies else []
    lines += ["probes:", f"  - {{name: under, kind: mass_in, box: {{min: [-9, -9, -99], max: [9, 9, {UNDER}]}}}}",
              "  - {name: low, kind: mass_in, box: {min: [-9, -9, -99], max: [9, 9, 0.06]}}",
              "  - {name: all, kind: mass_in, box: {min: [-9, -9, -99], max: [9, 9, 99]}}"]
    lines += [f"  - {{name: on_{n}, kind: force_on, target: {n}}}" for n in names + ["pen"]]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "scene.yaml")
        with open(path, "w") as file:
            file.write("\n".join(lines) + "\n")
        subprocess.run([PROGRAM, "run", path, "-o", os.path.join(folder, "out"), "--frames-format", "none", "--quiet"],
                       check=True, stderr=subprocess.DEVNULL)
        with open(os.path.join(folder, "out", "probes.csv")) as file:
            rows = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)]
    last = rows[-4:]
    load = -sum(row[f"on_{n}_z"] for row in last for n in names + ["pen"]) / len(last)
    mass = last[-1]["all"]
    return dict(passed=max(row["under"] for row in rows) / mass, load=load / (9.81 * mass), low=last[-1]["low"] / mass)


def plate(make=part, half=0.2, **turn):
    return slats(1, make, half, **turn)


FLOORS = {
    "66 slats": (plate(), slats(66), False),
    "160 slats": (plate(), slats(160), False),
    "slats turned by 30 degrees": (plate(), slats(66, axis=2, degrees=30), False),
    "slats that lean by 5": (plate(degrees=5), slats(66, degrees=5), False),
    "slats along a slope of 5": (plate(axis=0, degrees=5), slats(66, axis=0, degrees=5), False),
    "slats that lean by 20": (plate(degrees=20), slats(66, degrees=20), False),
    "tiles": (plate(), tiles(20, 20), False),
    "bricks": (plate(), bricks(), False),
    "slats that are lifted": (plate(lifted, 0.12), slats(24, lifted, 0.12), True),
}

failures, plates = 0, {}
for name, (one, many, moves) in FLOORS.items():
    key = one[0]
    if key not in plates:
        plates[key] = run([] if moves else one, one if moves else [])
    whole, found = plates[key], run([] if moves else many, many if moves else [])
    bad = found["passed"] > 0 or abs(found["load"] - 1) > 0.01 or abs(found["low"] - whole["low"]) > SAME
    print(f"{name:28} passed {found['passed']:.2g}  load {found['load']:.4f}  low {found['low']:.4f} of {whole['low']:.4f}",
          "FAILED" if bad else "", flush=True)
    failures += bad
sys.exit(failures > 0)
