"""The same bits from commit to commit: final hashes of small runs, for the reference build (Debian 12, gcc 12, x86-64).

`test/golden/hashes.txt` holds one line a run: name, state hash, hash of the fine grains (- where there are none). A
change that is meant to change results writes them anew with `python3 test/golden/hashes.py --write` and says so in
CHANGELOG.md. Other compilers and C libraries may start a little differently: there the test says so and passes only
the part that does not depend on them, which is that every run ends.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("SCREE_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
BUILD = pathlib.Path(os.environ.get("SCREE_BUILD", SOURCE / "build"))
SCREE = os.environ.get("SCREE", str(BUILD / "scree"))
os.environ.setdefault("SCREE_CACHE", "off")
TABLE = SOURCE / "test" / "golden" / "hashes.txt"
REFERENCE = "gcc 12"

# name, scene, options. Small and short, together every method and every room that a step goes through.
RUNS = [
    ("none", "none/burst", ["--frames", "10"]),
    ("pbd", "side_by_side/collapse", ["--method", "pbd", "--frames", "30"]),
    ("pbd_averaging", "side_by_side/collapse", ["--method", "pbd", "--frames", "10", "--set", "method.averaging=true"]),
    ("pbd_fine_grains", "sommer2022/wind", ["--frames", "10"]),
    ("pbd_matched_body", "sommer2022/squirrel", ["--frames", "4", "--set", "upsample=null"]),
    ("pbd_mechanism", "sommer2022/excavator", ["--frames", "4", "--set", "upsample=null"]),
    ("p2", "side_by_side/collapse", ["--method", "p2", "--frames", "30"]),
    ("p2_slope", "holz2014/slope", ["--frames", "10"]),
    ("p2_loam", "holz2014/excavator_loam", ["--frames", "4"]),
    ("p2_spring_damper", "holz2014/spring_damper", ["--frames", "20"]),
    ("dem", "side_by_side/collapse", ["--method", "dem", "--frames", "6"]),
    ("dem_terrain", "papadimitriou2012/pour_onto_terrain", ["--frames", "20"]),
    ("dem_blade", "papadimitriou2012/digging_tool", ["--frames", "6"]),
    ("dem_nut", "papadimitriou2012/brazil_nut", ["--frames", "6"]),
    ("sph", "side_by_side/collapse", ["--method", "sph", "--frames", "20"]),
    ("sph_ball", "neder2023/ball_drop", ["--frames", "4"]),
    ("sph_wind", "neder2023/wind", ["--frames", "4"]),
    ("flip", "side_by_side/collapse", ["--method", "flip", "--frames", "20"]),
    ("flip_bodies", "narain2010/impacts", ["--frames", "2"]),
    ("flip_points", "narain2010/hourglass_points", ["--frames", "3"]),
]


def compiler():
    for line in (BUILD / "CMakeCache.txt").read_text().splitlines():
        if line.startswith("CMAKE_C_COMPILER:"):
            path = line.split("=", 1)[1]
            version = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
            name = "gcc" if "Free Software Foundation" in version else "other"
            number = subprocess.run([path, "-dumpversion"], capture_output=True, text=True, check=True).stdout
            return f"{name} {number.split('.')[0].strip()}"
    return "unknown"


def hashes(scene, options):
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        command = [SCREE, "run", scene, "-o", folder, "--quiet", "--frames-format", "none", "--report", str(report)]
        subprocess.run(command + options, check=True, stdin=subprocess.DEVNULL)
        found = json.loads(report.read_text())
    fine = found.get("grains_hash") if found["particles"]["grains"] else None
    return found["state_hash"], fine or "-"


def main():
    known = {}
    if TABLE.exists():
        known = {words[0]: (words[1], words[2]) for words in map(str.split, TABLE.read_text().splitlines())}
    names = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    write = "--write" in sys.argv
    wrong = []
    for name, scene, options in RUNS:
        if names and name not in names:
            continue
        found = hashes(scene, options)
        print(name, *found, flush=True)
        if found != known.get(name):
            wrong.append(f"{name}: {' '.join(found)} instead of {' '.join(known.get(name, ('nothing', '')))}")
        known[name] = found
    if write:
        TABLE.write_text("".join(f"{name} {' '.join(known[name])}\n" for name, _, _ in RUNS if name in known))
        return 0
    built = compiler()
    if built != REFERENCE:
        print(f"built with {built}: the hashes are those of {REFERENCE}, so they are not compared")
        return 0
    for line in wrong:
        print("differs:", line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
