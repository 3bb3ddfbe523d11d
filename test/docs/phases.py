"""The table of phases in docs/architecture.md is that of src/world/step.c, in order, with what each phase reads and
writes, and names the files that define its functions."""
import os
import re
import sys
from pathlib import Path

ROOT = Path(os.environ.get("SCREE_SOURCE", Path(__file__).resolve().parents[2]))
ROW = re.compile(r"^\| (\d+) \| (\w+) \| `([\w>-]+)` \| (\S+) \| ([\w ]+) \| ([\w ]+) \|", re.M)
CALL = re.compile(r"^PHASE_FUNCTION\((\w+), (?:world->)?([\w>-]+)\(", re.M)
PHASE = re.compile(r'\{"(\w+)", (\w+), PHASE_\w+,\s*([A-Z_ |]+),\s*([A-Z_ |]+),\s*&?\w+\}')


def words(sets):
    return " ".join(part.strip().removeprefix("SET_").lower() for part in sets.split("|"))


def main():
    rows = ROW.findall((ROOT / "docs/architecture.md").read_text())
    source = (ROOT / "src/world/step.c").read_text()
    calls = dict(CALL.findall(source))
    phases = [(name, calls[run], words(reads), words(writes)) for name, run, reads, writes in PHASE.findall(source)]
    problems = []
    if [int(row[0]) for row in rows] != list(range(1, len(rows) + 1)):
        problems.append("rows are not numbered 1, 2, 3, ...")
    documented = [(name, function, reads, writes) for _, name, function, _, reads, writes in rows]
    if len(phases) != source.count('    {"'):
        problems.append("step.c has rows that this test does not understand")
    for k in range(max(len(documented), len(phases))):
        here, there = (table[k] if k < len(table) else None for table in (documented, phases))
        if here != there:
            problems.append(f"row {k + 1}: documented {here}\n       step.c     {there}")
    for _, _, function, file, _, _ in rows:
        if "*" in file:
            continue
        path = ROOT / file
        if not path.is_file() or not re.search(rf"^\w[\w *]*\b{function}\(", path.read_text(), re.M):
            problems.append(f"{file} does not define {function}")
    print("\n".join(problems) or f"{len(rows)} phases")
    return 1 if problems or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
