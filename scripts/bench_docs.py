#!/usr/bin/env python3
"""Writes the tables of docs/performance.md from bench/results/<machine>/<suite>.json and bench/targets.json.

  scripts/bench_docs.py                        write the tables (`make bench-docs`)
  scripts/bench_docs.py --check                exit code 1 when the page is not what would be written
  scripts/bench_docs.py store MACHINE FILE...  keep reports of `scree bench SUITE --report FILE` of this commit

A result is the report of `scree bench` with the commit and date of the build and, where they matter, the conditions (what
else was running); bench/results/<machine>/machine.json names the machine. A target is ["at most" | "at least" | "ratio at most", value] by suite and row: in the unit of the row, or of the
result over the reference. The page has a block from `<!-- bench SUITE -->` to `<!-- end -->` for every suite, and one
called `missed`; the text between the blocks is written by hand."""
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/performance.md"
RESULTS = ROOT / "bench/results"
BLOCK = re.compile(r"(<!-- bench (\w+) -->\n).*?(<!-- end -->)", re.S)
# Where the time of a frame goes: in the JSON, not on the page.
LEFT_OUT = re.compile(r", (neighbors|contacts|stabilize|solve|finish|commit)$")
HEADER = ("suite", "commit", "date", "conditions", "threads", "quick", "counts", "rows")


def number(value):
    """Three digits; exponents only where zeros would have to be counted."""
    if value is None:
        return ""
    if value != 0 and not 1e-3 <= abs(value) < 1e9:
        return f"{value:.2g}"
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2 if abs(value) >= 1 else 3
    return f"{value:,.{digits}f}".rstrip("0").rstrip(".") if digits else f"{value:,.0f}"


def is_met(target, row):
    sense, wanted = target
    if sense == "at least":
        return row["ours"] >= wanted
    return (row["ratio"] if sense == "ratio at most" else row["ours"]) <= wanted


def rows_of(result):
    """Figures of a whole suite are rows as well."""
    figures = [{"name": name, "ours": value, "reference": None, "ratio": None, "unit": "", "note": ""}
               for name, value in result.items() if name not in HEADER]
    return [row for row in result["rows"] if not LEFT_OUT.search(row["name"])] + figures


def table(machine, result, targets):
    conditions = f", {result['conditions']}" if result.get("conditions") else ""
    counts = f" What counts is {result['counts']}." if result.get("counts") else ""
    lines = [f"{machine['name']}{conditions}; commit {result['commit']}, {result['date']}.{counts}", "", "| case | result | unit | wanted | reference | remark |", "|---|---|---|---|---|---|"]
    missed = []
    for row in rows_of(result):
        target, wanted = targets.get(row["name"]), "none"
        if target and row["ours"] is not None:
            met = is_met(target, row)
            wanted = f"{target[0]} {number(target[1])}: " + ("reached" if met else "**missed**")
            if not met:
                missed.append((row["name"], f"{number(row['ours'])} {row['unit']}".strip(), f"{target[0]} {number(target[1])}"))
        reference = "" if target and row["reference"] == target[1] else number(row["reference"])
        lines.append(f"| {row['name']} | {number(row['ours'])} | {row['unit']} | {wanted} | {reference} | {row['note']} |")
    return lines, missed


def make_blocks():
    """Text of each block by the name of its suite."""
    targets = json.loads((ROOT / "bench/targets.json").read_text())
    blocks, missed = {}, []
    every = {name: target for rows in targets.values() for name, target in rows.items()}  # a suite may run rows of another
    for suite, wanted in targets.items():
        lines, found = [], set()
        for path in sorted(RESULTS.glob(f"*/{suite}.json")):
            result = json.loads(path.read_text())
            more, fell_short = table(json.loads((path.parent / "machine.json").read_text()), result, every)
            lines += ([""] if lines else []) + more
            found |= {row["name"] for row in rows_of(result)}
            missed += [(suite, *row) for row in fell_short]
        absent = [name for name in wanted if name not in found]
        if absent:
            lines += ["", "No result is kept for: " + "; ".join(f"{name} ({wanted[name][0]} {number(wanted[name][1])})"
                                                                for name in absent) + "."]
        blocks[suite] = "\n".join(lines) + "\n"
    blocks["missed"] = "\n".join(["| suite | case | result | wanted |", "|---|---|---|---|"] +
                                 [f"| {' | '.join(row)} |" for row in missed]) + "\n"
    return blocks


def make_page(text):
    blocks = make_blocks()
    named = {name for _, name, _ in BLOCK.findall(text)}
    known = {path.stem for path in RESULTS.glob("*/*.json")} - {"machine"}
    if named != set(blocks) or not known < set(blocks):
        sys.exit(f"{PAGE.name}, bench/targets.json and bench/results/ differ in: "
                 + " ".join(sorted(named ^ set(blocks) | known - set(blocks))))
    return BLOCK.sub(lambda m: m[1] + blocks[m[2]] + m[3], text)


def store(machine, files):
    folder = RESULTS / machine
    if not (folder / "machine.json").exists():
        sys.exit(f"{folder}/machine.json is missing: {{\"name\": what the machine is}}")
    commit, date = subprocess.run(["git", "log", "-1", "--format=%h %cs"], cwd=ROOT, check=True, capture_output=True,
                                  text=True).stdout.split()
    for file in files:
        result = json.loads(Path(file).read_text())
        if result.get("quick"):
            sys.exit(f"{file}: only tried out: the figures say nothing")
        head = {"suite": result["suite"], "commit": commit, "date": date, "counts": result.get("counts", ""),
                **{name: value for name, value in result.items() if name not in HEADER}}
        rows = ",\n  ".join(json.dumps(row) for row in result["rows"])
        (folder / f"{result['suite']}.json").write_text(f"{json.dumps(head)[:-1]},\n \"rows\": [\n  {rows}\n ]}}\n")


def main(arguments):
    if len(arguments) > 2 and arguments[0] == "store":
        store(arguments[1], arguments[2:])
    elif arguments not in ([], ["--check"]):
        sys.exit(__doc__)
    text = PAGE.read_text()
    made = make_page(text)
    if arguments == ["--check"]:
        if made != text:
            sys.exit("docs/performance.md is not what its results say: make bench-docs")
    else:
        PAGE.write_text(made)


if __name__ == "__main__":
    main(sys.argv[1:])
