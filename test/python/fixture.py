"""What the tests of the Python package share: small scenes."""
import os
import sys
from pathlib import Path

ROOT = Path(os.environ.get("SCREE_SOURCE", Path(__file__).resolve().parents[2]))
BUILD = Path(os.environ.get("SCREE_BUILD", ROOT / "build"))
sys.path.insert(0, str(BUILD / "python"))

# A few hundred grains in a bin with a blade that goes where it is told, and a ball that is free.
BIN = {
    "title": "Bin", "frame_rate": 60, "duration": 0.5,
    "method": {"name": "pbd", "radius": 0.03},
    "materials": {"soil": {"friction_static": 0.4, "friction_kinetic": 0.35}},
    "grains": [{"material": "soil", "fill": {"box": {"min": [-0.4, -0.2, 0], "max": [0.4, 0.2, 0.2]}}, "start": "dense"}],
    "boundaries": [{"name": "bin", "box": {"min": [-0.4, -0.2, 0], "max": [0.4, 0.2, 1]}, "inside": True}],
    "bodies": [{"name": "blade", "box": {"size": [0.04, 0.3, 0.2]}, "motion": "fixed", "position": [-0.3, 0, 0.4]},
               {"name": "ball", "sphere": {"radius": 0.06}, "position": [0.2, 0, 0.5], "density": 2000}],
    "camera": {"eye": [0.9, -1.2, 0.8], "target": [0, 0, 0.15]},
    "probes": [{"name": "energy", "kind": "energy"}, {"name": "load", "kind": "force_on", "target": "bin"},
               {"name": "inside", "kind": "mass_in"}, {"name": "ball", "kind": "pose_of", "target": "ball"}],
}
