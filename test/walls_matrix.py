"""Walls, tools and machines in every method: one small bed on each. Nothing passes, the forces on all solids are the
weight within 1 %, nothing is NaN; the long form watches the bed for ten seconds and wants it to creep less than 0.02
diameters. docs/walls.md has the table. Used by physics/walls.py, walls_flip.py and validate_walls.py."""
import csv
import math
import os
import shutil
import subprocess
import tempfile

SCENES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hard")
METHODS = ["pbd", "p2", "dem", "sph", "flip"]
FILES = ["tub.obj", "tray.xml", "tray_hold.csv"]
R = 0.02
RADIUS = dict(pbd=R, p2=R, dem=R, sph=R, flip=R / 4)  # a cell of flip is four radii: walls are not thinner
SECONDS = dict(pbd=12, p2=12, dem=12, sph=12, flip=4)  # of the long form: flip has sixty times the particles
SIDE = 0.12
FRICTION = "friction_static: 0.5, friction_kinetic: 0.4"
SMOOTH = "friction_static: 0, friction_kinetic: 0"
PASSED = 0  # of the mass
BALANCE = 0.01  # of the weight
CREEP = 0.02  # diameters in ten seconds


def box(low, high, name, friction=FRICTION, more=""):
    return f"{{box: {{min: {list(low)}, max: {list(high)}}}, {friction}, name: {name}{more}}}"


def pen(bottom=-1):
    return box((-SIDE, -SIDE, bottom), (SIDE, SIDE, 2), "pen", SMOOTH, ", inside: true")


def fill(low=0.0, height=0.16, side=SIDE):
    return f"box: {{min: [{-side}, {-side}, {low}], max: [{side}, {side}, {low + height}]}}"


def turned(angle):
    return f"[{math.cos(angle / 2):.9f}, 0, 0, {math.sin(angle / 2):.9f}]"


def body(density, z):
    return f"{{name: block, box: {{size: [0.08, 0.08, 0.08]}}, density: {density}, position: [0, 0, {z}], motion: free, {FRICTION}}}"


def cases():
    floor = f"{{plane: {{point: [0, 0, 0], normal: [0, 0, 1]}}, {FRICTION}, name: floor}}"
    k = 0.7
    inner, outer, bottom = 0.17 * k, 0.2 * k, 0.03 * k
    tub = fill(bottom, 0.16, inner)
    walls = [((-outer, -outer, 0), (outer, outer, bottom)), ((-outer, -outer, bottom), (-inner, outer, 0.4)),
             ((inner, -outer, bottom), (outer, outer, 0.4)), ((-inner, -outer, bottom), (inner, -inner, 0.4)),
             ((-inner, inner, bottom), (inner, outer, 0.4))]
    wide = 2 * SIDE / 40
    slats = [box((-SIDE + i * wide, -SIDE, -0.06), (-SIDE + (i + 1) * wide, SIDE, 0), f"slat{i:02d}") for i in range(40)]
    piston = (f"{{name: piston, box: {{size: [{2 * SIDE}, {2 * SIDE}, 0.1]}}, {FRICTION}, motion: keyframes, keys: "
              "[{t: 0, position: [0, 0, -0.05]}, {t: 0.1, position: [0, 0, -0.05]}, {t: 0.4, position: [0, 0, 0]}]}")
    keys = ", ".join(f"{{t: {0.05 * i:.2f}, position: [0, 0, 0.06], rotation: {turned(0.2 * i)}}}" for i in range(9))
    paddle = f"{{name: paddle, box: {{size: [0.16, 0.02, 0.1]}}, {FRICTION}, motion: keyframes, keys: [{keys}]}}"
    corner = [f"{{plane: {{point: [{-SIDE}, 0, 0], normal: [1, 0, 0]}}, {FRICTION}, name: wall_x}}",
              f"{{plane: {{point: [0, {-SIDE}, 0], normal: [0, 1, 0]}}, {FRICTION}, name: wall_y}}"]
    tray = f"mechanism: {{mjcf: tray.xml, controls: tray_hold.csv, {FRICTION}}}"
    return {
        "plane": dict(fill=fill(), walls=[floor, pen()]),
        "box": dict(fill=fill(), walls=[box((-0.2, -0.2, -0.1), (0.2, 0.2, 0), "floor"), pen()]),
        "cylinder": dict(fill="cylinder: {radius: 0.14, height: 0.16}",
                         walls=[f"{{cylinder: {{radius: 0.14, height: 1}}, inside: true, {FRICTION}, name: pen}}"]),
        "capsule": dict(fill="cylinder: {base: [0, 0, -0.02], radius: 0.1, height: 0.2}", under=-0.15,
                        walls=[f"{{capsule: {{radius: 0.14, height: 0.6}}, inside: true, {FRICTION}, name: pen}}"]),
        "mesh": dict(fill=tub, walls=[f"{{mesh: tub.obj, scale: {k}, {FRICTION}, name: tub}}"]),
        "boxes": dict(fill=tub, walls=[box(a, b, f"side{i}") for i, (a, b) in enumerate(walls)]),
        "plate": dict(fill=fill(), walls=[box((-0.2, -0.2, -0.2 * R), (0.2, 0.2, 0), "plate"), pen()]),
        "slats": dict(fill=fill(), walls=slats + [pen()]),
        "piston": dict(fill=fill(), walls=[pen()], bodies=[piston], under=-0.1),
        "paddle": dict(fill=fill(), walls=[floor, pen()], bodies=[paddle], short=2),  # what it throws has to land
        "tray": dict(fill="box: {min: [-0.4, -0.2, 0], max: [0.4, 0.2, 0.08]}", walls=[], mechanism=tray, under=-0.08),
        "light": dict(fill=fill(), walls=[floor, pen()], bodies=[body(200, 0.26)], extra=200 * 0.08**3),
        "heavy": dict(fill=fill(), walls=[floor, pen()], bodies=[body(6000, 0.26)], extra=6000 * 0.08**3),
        "corner": dict(fill=fill(), walls=corner + [floor, pen()], gravity=(-2, -2, -9)),
    }


def watched_from(seconds):
    """When the bed has come to rest; creep is given for ten seconds."""
    return max(seconds - 10, min(2, seconds / 2))


def scene(case, method, seconds):
    g = case.get("gravity", (0, 0, -9.81))
    names = [w.split("name: ")[1].split(",")[0].rstrip("}") for w in case["walls"] + case.get("bodies", [])]
    names = [n for n in names if n != "block"] + (["tray"] if "mechanism" in case else [])
    lines = ["scree: 1", "title: Walls", f"duration: {seconds}", "frame_rate: 20", f"gravity: {list(g)}",
             f"method: {{name: {method}, radius: {RADIUS[method]}}}", "materials:",
             "  sand: {density: 1600, friction_angle_deg: 30, friction_static: 0.5, friction_kinetic: 0.45, young: 2e6}"
             if method == "dem" else
             "  sand: {density: 1600, friction_angle_deg: 30, friction_static: 0.5, friction_kinetic: 0.45}",
             "grains:", f"  - {{material: sand, fill: {{{case['fill']}}}, start: dense}}"]
    if case["walls"]:
        lines += ["boundaries:"] + [f"  - {w}" for w in case["walls"]]
    if "bodies" in case:
        lines += ["bodies:"] + [f"  - {b}" for b in case["bodies"]]
    if "mechanism" in case:
        lines.append(case["mechanism"])
    under = case.get("under", 0)
    lines += ["probes:", f"  - {{name: under, kind: mass_in, box: {{min: [-9, -9, -99], max: [9, 9, {under}]}}}}",
              "  - {name: all, kind: mass_in, box: {min: [-99, -99, -999], max: [99, 99, 99]}}",
              "  - {name: energy, kind: energy}",
              f"  - {{name: creep, kind: creep, from: {watched_from(seconds)}}}"]
    lines += [f"  - {{name: on_{n}, kind: force_on, target: {n}}}" for n in names]
    return "\n".join(lines) + "\n", names, g


def run(program, case, method, seconds):
    text, names, g = scene(case, method, seconds)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "scene.yaml")
        for name in FILES:
            shutil.copy(os.path.join(SCENES, name), folder)
        with open(path, "w") as file:
            file.write(text)
        done = subprocess.run([program, "run", path, "--output", os.path.join(folder, "out"), "--threads", "1"],
                              capture_output=True, text=True)
        if done.returncode:
            return dict(error=done.stderr.strip().splitlines()[-1])
        with open(os.path.join(folder, "out", "probes.csv")) as file:
            rows = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)]
    last = rows[-len(rows) // 4:]
    mass = last[-1]["all"] + case.get("extra", 0)
    force = [sum(row[f"on_{n}_{a}"] for row in last for n in names) / len(last) for a in "xyz"]
    off = math.dist(force, [mass * c for c in g]) / (mass * math.hypot(*g))
    finite = all(math.isfinite(v) for row in rows for v in row.values())
    return dict(passed=max(row["under"] for row in rows) / mass, balance=off,
                creep=last[-1]["creep"] / (2 * R) * 10 / (seconds - watched_from(seconds)),
                energy=last[-1]["energy_kinetic"], finite=finite)


def check(methods, full=False):
    """Runs the cells of these methods; returns the number of failures."""
    program = os.environ.get("SCREE", "scree")
    failures = 0
    for name, case in cases().items():
        for method in methods:
            if method == "flip" and name == "plate":
                continue  # thinner than a cell
            found = run(program, case, method, SECONDS[method] if full else case.get("short", 1))
            bad = [found["error"]] if "error" in found else []
            if not bad:
                if not found["finite"]:
                    bad.append("something is NaN")
                for key, aim in (("passed", PASSED), ("balance", BALANCE), ("creep", CREEP)):
                    if (key != "creep" or full) and found[key] > aim:
                        bad.append(f"{key} {found[key]:.3g}, at most {aim}")
            print(f"{name:9} {method:5}", "  ".join(bad) if "error" in found else
                  " ".join(f"{key} {value:.2g}" for key, value in found.items() if key != "finite"),
                  "FAILED: " + ", ".join(bad) if bad else "", flush=True)
            failures += bool(bad)
    return failures
