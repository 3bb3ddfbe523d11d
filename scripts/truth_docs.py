#!/usr/bin/env python3
"""Writes the tables of docs/truth.md from docs/figures/truth/report.json, the report of `scree validate`.

  scripts/truth_docs.py            write the tables
  scripts/truth_docs.py --check    exit code 1 when the page is not what would be written
  scripts/truth_docs.py store DIR...  keep reports and plots of these output folders of `scree validate`, of this commit;
                                   of a law and method that several of them have, the last counts; docs/figures/truth as
                                   the first keeps the rest. A plot takes the place of those whose methods it has, and
                                   stands beside the others

The page has a block from `<!-- truth LAW -->` to `<!-- end -->` for every law, and one called `summary`; the text between
the blocks is written by hand: a paragraph for each miss."""
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/truth.md"
STORE = ROOT / "docs/figures/truth"
METHODS = ["pbd", "p2", "dem", "sph", "flip"]
BLOCK = re.compile(r"(<!-- truth (\w+) -->\n).*?(<!-- end -->)", re.S)


def number(value):
    return "" if value is None else f"{value:.3g}"


def band(row):
    low, high = number(row["low"]), number(row["high"])
    return f"{low} to {high}" if low and high else f"at least {low}" if low else f"at most {high}"


def methods_of(report):
    return sorted({row["method"] for row in report["rows"]}, key=METHODS.index)


def level_of(rows, method):
    """How finely a law was measured with a method, where that is not as all others were."""
    levels = {row["level"] for row in rows if row["method"] == method} - {"coarse"}
    return f" ({', '.join(sorted(levels))})" if levels else ""


def cell(rows):
    """Measured, bold where it misses."""
    if not rows:
        return "not run"
    row = rows[0]
    if row["verdict"] == "failed":
        return "**failed**"
    return number(row["measured"]) if row["verdict"] == "ok" else f"**{number(row['measured'])}**"


def law_block(report, law):
    rows = [row for row in report["rows"] if row["law"] == law["name"]]
    if not rows:
        return "Not run.\n"
    methods = methods_of(report)
    lines = [f"{law['title']}.", "", f"- Reference: {law['reference']}.", f"- Band: {law['band']}.", f"- Scene: {law['scene']}.",
             f"- Measured: {law['measure']}.", "",
             f"| case | law says | band | unit | {' | '.join(method + level_of(rows, method) for method in methods)} |", "|---|---|---|---|" + "---|" * len(methods)]
    for case in dict.fromkeys(row["case"] for row in rows):
        here = [row for row in rows if row["case"] == case]
        cells = [cell([row for row in here if row["method"] == method]) for method in methods]
        lines.append(f"| {case} | {number(here[0]['law_says'])} | {band(here[0])} | {here[0]['unit']} | {' | '.join(cells)} |")
    for plot in sorted(law["plots"], key=lambda plot: -len(plot["methods"])):
        lines += ["", f"![{law['title']}: {', '.join(plot['methods'])}](figures/truth/{plot['file']})"]
    return "\n".join(lines) + "\n"


def summary_block(report):
    methods = methods_of(report)
    lines = [f"Commit {report['commit']}; coarse, but where a table says otherwise. Rows within their bands of all rows:", "",
             f"| law | {' | '.join(methods)} |", "|---|" + "---|" * len(methods)]
    for law in report["laws"]:
        cells = []
        for method in methods:
            rows = [row for row in report["rows"] if (row["law"], row["method"]) == (law["name"], method)]
            good = sum(row["verdict"] == "ok" for row in rows)
            cells.append(f"{good} of {len(rows)}" if rows else "not run")
        lines.append(f"| [{law['name']}](#{law['name']}) | {' | '.join(cells)} |")
    good = sum(row["verdict"] == "ok" for row in report["rows"])
    lines += ["", f"{good} of {len(report['rows'])} rows lie in their bands."]
    return "\n".join(lines) + "\n"


def page_text(text):
    report = json.loads((STORE / "report.json").read_text())
    blocks = {law["name"]: law_block(report, law) for law in report["laws"]} | {"summary": summary_block(report)}
    unknown = [name for _, name, _ in BLOCK.findall(text) if name not in blocks]
    missing = [name for name in blocks if f"<!-- truth {name} -->" not in text]
    if unknown or missing:
        sys.exit(f"{PAGE}: blocks without a law: {unknown}; laws without a block: {missing}")
    return BLOCK.sub(lambda found: found[1] + blocks[found[2]] + found[3], text)


def keep_plot(law, methods, plots, folder):
    """The plots of a law once that of this folder, with these methods, is among them."""
    if not methods:
        return plots
    for plot in plots:
        if set(plot["methods"]) <= set(methods):
            (STORE / plot["file"]).unlink(missing_ok=True)
    kept = [plot for plot in plots if not set(plot["methods"]) <= set(methods)]
    file = f"{law}_{'_'.join(methods)}.png" if kept else f"{law}.png"
    shutil.copy(folder / f"{law}.png", STORE / file)
    return kept + [{"file": file, "methods": methods}]


def store(folders):
    merged, laws, rows = {}, {}, {}
    STORE.mkdir(parents=True, exist_ok=True)
    for folder in folders:
        report = json.loads((folder / "report.json").read_text())
        merged["scree"] = report["scree"]
        fresh = {}
        for row in report["rows"]:
            fresh.setdefault((row["law"], row["method"]), []).append({"level": report.get("level")} | row)
        rows |= fresh
        for law in report["laws"]:
            if folder.resolve() != STORE:
                plots = laws.get(law["name"], {}).get("plots", [])
                methods = sorted({method for name, method in fresh if name == law["name"]}, key=METHODS.index)
                law["plots"] = keep_plot(law["name"], methods, plots, folder)
            laws[law["name"]] = law
    git = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    merged["commit"] = subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    methods = sorted({method for _, method in rows}, key=METHODS.index)
    order = [name for _, name, _ in BLOCK.findall(PAGE.read_text())]
    laws = {name: laws[name] for name in sorted(laws, key=order.index)}
    merged["laws"] = list(laws.values())
    merged["rows"] = [row for law in laws for method in methods for row in rows.get((law, method), [])]
    (STORE / "report.json").write_text(json.dumps(merged, indent=1) + "\n")


def main(words):
    if words[:1] == ["store"] and len(words) > 1:
        store([Path(word) for word in words[1:]])
        return 0
    before = PAGE.read_text()
    after = page_text(before)
    if words == ["--check"]:
        if before != after:
            print(f"{PAGE} is stale: scripts/truth_docs.py writes it")
        return int(before != after)
    PAGE.write_text(after)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
