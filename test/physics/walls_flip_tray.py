"""flip in a tray that a servo holds, of a hundredth to a hundred times the mass of its sand, on flip's grid and off it: the load
is the weight within 2 %, and the bed does not creep after the first second. See test/walls_matrix.py."""
import os
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import walls_matrix

SECONDS = 2
WIDTH = 0.15  # of the bed, from its middle
SAND = 1600 * (2 * WIDTH) ** 2 * 0.08  # kg
failures = 0


def tray(mass, at):
    """tray.xml for less sand, of that mass, moved along x and y. The servo is as much stiffer as it has more to hold."""
    with open(os.path.join(walls_matrix.SCENES, "tray.xml")) as file:
        text = file.read()
    text = re.sub(r'mass="([0-9.]+)"', lambda m: f'mass="{float(m[1]) * mass / 5:g}"', text)
    more = (mass + SAND) / (5 + SAND)
    text = text.replace('kp="2000000"', f'kp="{2e6 * more:g}"').replace('damping="2000"', f'damping="{2000 * more:g}"')
    text = text.replace('"-20000 20000"', f'"{-2e4 * more:g} {2e4 * more:g}"')
    text = text.replace("0.46 0.26", f"{WIDTH + 0.06} {WIDTH + 0.06}").replace("0.03 0.26", f"0.03 {WIDTH + 0.06}")
    text = text.replace("0.40 0.03", f"{WIDTH} 0.03").replace("0.43", f"{WIDTH + 0.03}").replace("0.23", f"{WIDTH + 0.03}")
    return text.replace('name="tray" pos="0 0 0"', f'name="tray" pos="{at} {at} 0"')


def check(mass, at):
    global failures
    low, high = round(at - WIDTH, 6), round(at + WIDTH, 6)
    case = dict(walls_matrix.cases()["tray"],
                fill=f"box: {{min: [{low}, {low}, 0], max: [{high}, {high}, 0.08]}}")
    with tempfile.TemporaryDirectory() as folder:
        for name in walls_matrix.FILES:
            shutil.copy(os.path.join(walls_matrix.SCENES, name), folder)
        with open(os.path.join(folder, "tray.xml"), "w") as file:
            file.write(tray(mass, at))
        walls_matrix.SCENES, kept = folder, walls_matrix.SCENES
        found = walls_matrix.run(os.environ.get("SCREE", "scree"), case, "flip", SECONDS)
        walls_matrix.SCENES = kept
    good = "error" not in found and found["balance"] < 0.02 and found["creep"] < walls_matrix.CREEP
    print(f"tray of {mass:g} kg at {at:g} m:", found, "" if good else "FAILED", flush=True)
    failures += not good


for mass, at in ((0.115, 0), (1.15, 0.003), (115, 0), (1150, 0.007)):
    check(mass, at)
sys.exit(failures > 0)
