#!/usr/bin/python3
"""Makes docs/gallery.md: a picture of every shipped scene, simulated and drawn by build/scree.

usage: scripts/gallery.py [--all] [--only PAPER/NAME ...] [--page] [--program FILE]

A scene is drawn at the moment that a comment line `# gallery: T` in its file names (in seconds), or at 60 % of its
duration. Pictures whose scene has not changed since they were made stay as they are (made.json beside them knows); --all
makes them anew, --only those of these scenes. --page only writes the page from the pictures that there are.
"""
import argparse
import hashlib
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCREE = ROOT / "build" / "scree"
IMAGES = ROOT / "docs" / "images" / "gallery"
PAGE = ROOT / "docs" / "gallery.md"
MADE = IMAGES / "made.json"
SIZE = "640x400"
LOOK = 2  # to be counted up when the renderer draws differently

PAPERS = {
    "sommer2022": "Sommer, Schwanecke and Schoemer 2022: coarse grains in real time, and fine ones that follow them",
    "holz2014": "Holz 2014: parallel particles for soil under machines",
    "papadimitriou2012": "Papadimitriou 2012: discrete elements",
    "neder2023": "Neder 2023: sand as an incompressible fluid",
    "narain2010": "Narain, Golas and Lin 2010: sand as a continuum",
    "side_by_side": "For every method",
    "none": "Without a method",
}


def scenes():
    """(paper, name, path) of the shipped scenes, in the order of the papers."""
    found = sorted(ROOT.glob("scenes/*/*.yaml"))
    order = list(PAPERS)
    return sorted(((p.parent.name, p.stem, p) for p in found),
                  key=lambda s: (order.index(s[0]) if s[0] in order else len(order), s[1]))


def number(text, key, otherwise):
    match = re.search(rf"^{key}:\s*([0-9.eE+-]+)", text, re.MULTILINE)
    return float(match.group(1)) if match else otherwise


def first_comment(text):
    """The comment that a scene begins with, without its note for the gallery."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        if not line.startswith("# gallery:"):
            lines.append(line.lstrip("# "))
    return " ".join(lines)


def stamp(path):
    """What a picture depends on, short: the scene, the size, and the look."""
    text = path.read_text(encoding="utf-8") + f"{SIZE} {LOOK}"
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]


def read_made():
    return json.loads(MADE.read_text(encoding="utf-8")) if MADE.exists() else {}


def write_made(made):
    MADE.write_text(json.dumps(made, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def draw(program, paper, name, path):
    text = path.read_text(encoding="utf-8")
    moment = re.search(r"^# gallery:\s*([0-9.]+)", text, re.MULTILINE)
    seconds = float(moment.group(1)) if moment else 0.6 * number(text, "duration", 1.0)
    frame = round(seconds * number(text, "frame_rate", 60.0))
    target = IMAGES / f"{paper}_{name}.png"
    IMAGES.mkdir(parents=True, exist_ok=True)
    command = [program, "render", f"{paper}/{name}", "--frame", str(frame), "--size", SIZE, "-o", target, "--quiet"]
    print(f"{paper}/{name}: frame {frame}", flush=True)
    return subprocess.run(command, check=False).returncode == 0


def write_page():
    lines = ["# Gallery", "",
             "Every shipped scene, simulated and drawn by scree itself; `scripts/gallery.py` makes the pictures again. "
             "Open one with `build/scree view PAPER/NAME`, or make a film with `build/scree render PAPER/NAME -o film.mp4`."]
    last = None
    for paper, name, path in scenes():
        picture = IMAGES / f"{paper}_{name}.png"
        if not picture.exists():
            continue
        if paper != last:
            lines += ["", f"## {PAPERS.get(paper, paper)}"]
            last = paper
        lines += ["", f"### {paper}/{name}", "", first_comment(path.read_text(encoding="utf-8")), "",
                  f"![{paper}/{name}](images/gallery/{picture.name})"]
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--only", nargs="*", default=None)
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--program", default=SCREE)
    arguments = parser.parse_args()
    failed = []
    for paper, name, path in scenes() if not arguments.page else []:
        scene, now = f"{paper}/{name}", stamp(path)
        if arguments.only is not None and scene not in arguments.only:
            continue
        done = read_made().get(scene) == now and (IMAGES / f"{paper}_{name}.png").exists()
        if done and not arguments.all and arguments.only is None:
            continue
        if draw(arguments.program, paper, name, path):
            write_made({**read_made(), scene: now})
        else:
            failed.append(scene)
    write_page()
    if failed:
        print("not drawn:", ", ".join(failed), file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
