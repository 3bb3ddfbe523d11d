"""Sand turns wheels on hinges whose blades meet each other, in cells as wide as the blades: whatever the friction of the
sand, no wheel is driven faster than sand that falls from the hopper to the floor would drive its rim."""
import csv
import math
import os
import subprocess
import sys
import tempfile

PROGRAM = os.environ.get("SCREE", "scree")
RIM = 0.19  # m, from the hinge
FALL = math.sqrt(2 * 9.81 * 2)  # m/s, from 2 m
RUNS = 16

failures = 0
for k in range(RUNS):
    angle = 20 + 14 * k / (RUNS - 1)
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([PROGRAM, "run", "narain2010/paddles", "-o", folder, "--quiet", "--frames-format", "none",
                               "--seconds", "1.5", "--set", "method.radius=0.02",
                               "--set", f"materials.sand.friction_angle_deg={angle}"], capture_output=True, text=True)
        fastest = math.inf
        if done.returncode == 0:
            with open(os.path.join(folder, "probes.csv")) as file:
                fastest = max(abs(float(row[f"{wheel}_wy"])) for row in csv.DictReader(file)
                              for wheel in ("upper", "middle", "lower"))
    bad = not fastest * RIM < FALL
    print(f"{angle:.2f} degrees: {fastest:.1f} rad/s at most", "FAILED " + done.stderr.strip()[-200:] if bad else "", flush=True)
    failures += bad
sys.exit(failures > 0)
