#!/usr/bin/env python3
"""Draws what docs/methods/upsampling.md shows: docs/figures/upsample.png (the metrics against time, both modes) and
pictures of coarse and fine grains side by side (docs/figures/upsample_*.png).

    ninja -C build test_physics_validate_upsample
    python3 docs/figures/upsample.py [build] [metrics|pictures|NAME] [folder]

The metrics are computed by test/physics/validate_upsample.c, which this runs (some minutes); the pictures are simulated
and drawn by build/scree. `folder` keeps what they wrote and is used again where it holds it already.
"""
import csv
import os
import subprocess
import sys
import tempfile

import matplotlib

matplotlib.use("Agg")
import matplotlib.image
import matplotlib.pyplot as plt

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.path.join(ROOT, "build")
WHAT = sys.argv[2] if len(sys.argv) > 2 else "all"

MODES = [("better", "better", "C0", "-"), ("paper", "paper", "C1", "-")]
SERIES = ["flow_better", "flow_unstirred", "flow_paper", "pile_better", "pile_paper", "tray_better", "tray_paper",
          "tray_ihmsen"]
EXCAVATOR = ["sommer2022/excavator", "--seconds", "10.3"]
COLUMN = os.path.join(HERE, "upsample_column.yaml")
# file -> [(title, arguments of scree render)]
PICTURES = {
    "upsample_hourglass": [("coarse: 10.6k", ["sommer2022/hourglass", "--seconds", "2", "--coarse"]),
                           ("fine: 469k", ["sommer2022/hourglass", "--seconds", "2"])],
    "upsample_squirrel": [("coarse: 10.8k", ["sommer2022/squirrel", "--seconds", "0.8", "--coarse"]),
                          ("fine: 219k", ["sommer2022/squirrel", "--seconds", "0.8"])],
    "upsample_bucket": [("no rule for bodies", EXCAVATOR + ["--set", "upsample.mode=paper", "--set",
                                                            "upsample.body_rule=false"]),
                        ("the paper's rule", EXCAVATOR + ["--set", "upsample.mode=paper"]),
                        ("better", EXCAVATOR)],
    "upsample_wind": [("1 s", ["sommer2022/wind", "--seconds", "1"]), ("3 s", ["sommer2022/wind", "--seconds", "3"])],
    "upsample_methods": [(method, [COLUMN, "--method", method]) for method in ("dem", "sph", "flip")],
}


def columns(folder, name):
    with open(os.path.join(folder, name + ".csv")) as file:
        rows = list(csv.DictReader(file))
    return {key: [float(row[key]) for row in rows] for key in rows[0]}


def draw_metrics(folder):
    if not all(os.path.exists(os.path.join(folder, name + ".csv")) for name in SERIES):
        program = os.path.join(BUILD, "test_physics_validate_upsample")
        for tests in ("flow_of_both_ways", "a_pile_at_rest*", "trays_of_both_ways"):
            subprocess.run([program, tests], check=True, env={**os.environ, "SCREE_UPSAMPLE_CSV": folder})
    figure, axes = plt.subplots(2, 3, figsize=(13, 7))
    panels = [("spread", "counts in cells of 2 r: spread over a random cloud's", axes[0][0]),
              ("inside", "share more than r/10 inside a solid", axes[0][1]),
              ("far", "share farther than 3 r from all coarse grains", axes[0][2])]
    for column, title, axis in panels:
        for mode, label, colour, line in MODES + [("unstirred", "better, stir: 0", "C2", "--")]:
            series = columns(folder, "flow_" + mode)
            axis.plot(series["time"], series[column], line, color=colour, label=label)
        axis.set_title("hourglass, " + title, fontsize=9)
        axis.set_xlabel("s")
        axis.set_ylim(bottom=0)
    axes[0][0].axhline(1.3, color="grey", linewidth=0.8, linestyle=":")
    for column, axis in (("farthest", axes[1][0]), ("mean", axes[1][1])):
        for mode, label, colour, line in MODES:
            series = columns(folder, "pile_" + mode)
            axis.plot(series["time"], series[column], line, color=colour, label=label)
        axis.set_xlabel("s at rest")
    axes[1][0].set_title("pile at rest, drift of the farthest grain, diameters", fontsize=9)
    axes[1][1].set_title("pile at rest, mean drift, diameters", fontsize=9)
    axes[1][0].axhline(1, color="grey", linewidth=0.8, linestyle=":")
    for mode, label, colour, line in MODES + [("ihmsen", "paper, body_rule: false", "C3", "--")]:
        series = columns(folder, "tray_" + mode)
        axes[1][2].plot(series["time"], series["hanging"], line, color=colour, label=label)
    axes[1][2].axvline(1.25, color="grey", linewidth=0.8, linestyle=":")
    axes[1][2].set_title("tipped tray (empty at the dotted line), share in the air", fontsize=9)
    axes[1][2].set_xlabel("s")
    for axis in axes.flat:
        axis.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(os.path.join(HERE, "upsample.png"), dpi=80)


def draw_pictures(folder):
    for name, parts in PICTURES.items():
        if WHAT in PICTURES and name != WHAT:
            continue
        figure, axes = plt.subplots(1, len(parts), figsize=(5.2 * len(parts), 4.2))
        for k, (title, arguments) in enumerate(parts):
            path = os.path.join(folder, f"{name}_{k}.png")
            if not os.path.exists(path):
                subprocess.run([os.path.join(BUILD, "scree"), "render", *arguments, "--frame", "-1", "-o", path, "--size",
                                "640x480", "--quiet"], check=True)
            axes[k].imshow(matplotlib.image.imread(path))
            axes[k].set_title(title, fontsize=10)
            axes[k].axis("off")
        figure.tight_layout()
        figure.savefig(os.path.join(HERE, name + ".png"), dpi=90)


def main():
    with tempfile.TemporaryDirectory() as temporary:
        folder = sys.argv[3] if len(sys.argv) > 3 else temporary
        if WHAT in ("all", "metrics"):
            draw_metrics(folder)
        if WHAT in ("all", "pictures") or WHAT in PICTURES:
            draw_pictures(folder)


if __name__ == "__main__":
    main()
