"""The table of phases in docs/architecture.md names the calls of world_step, in order, and files that define them."""
import os
import re
import sys
from pathlib import Path

ROOT = Path(os.environ.get("SCREE_SOURCE", Path(__file__).resolve().parents[2]))
ROW = re.compile(r"^\| (\d+) \| (\w+) \| `([\w>-]+)` \| (\S+) \|", re.M)
PHASE = re.compile(r'\bPHASE\("(\w+)", ([\w>-]+)\(')


def main():
    rows = ROW.findall((ROOT / "docs/architecture.md").read_text())
    phases = PHASE.findall((ROOT / "src/world/step.c").read_text())
    problems = []
    if [int(row[0]) for row in rows] != list(range(1, len(rows) + 1)):
        problems.append("rows are not numbered 1, 2, 3, ...")
    if [(row[1], row[2]) for row in rows] != phases:
        problems.append("documented: " + ", ".join(row[2] for row in rows))
        problems.append("step.c:     " + ", ".join(phase[1] for phase in phases))
    for _, _, function, file in rows:
        if "*" in file:
            continue
        path = ROOT / file
        if not path.is_file() or not re.search(rf"^\w[\w *]*\b{function}\(", path.read_text(), re.M):
            problems.append(f"{file} does not define {function}")
    print("\n".join(problems) or f"{len(rows)} phases")
    return 1 if problems or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
