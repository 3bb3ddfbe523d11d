"""The pages that say which files to touch for a change (a probe, a shape, a parameter): every file, constant and function that
they name in backticks exists."""
import os
import re
import sys
from pathlib import Path

ROOT = Path(os.environ.get("SCREE_SOURCE", Path(__file__).resolve().parents[2]))
PAGES = ["CONTRIBUTING.md", "docs/adding_a_parameter.md", "docs/adding_a_probe.md", "docs/adding_a_shape.md"]
FILE = re.compile(r"^(?:include|src|app|bench|test|docs|scenes)/[\w./-]+$")
NAME = re.compile(r"^(?:SCREE_|PROBE_|SHAPE_|SECTION)[A-Z_]*$|^[A-Z][a-z]+[A-Z]\w+$")


def main():
    sources = "".join(path.read_text() for folder in ["include", "src"] for path in (ROOT / folder).rglob("*.[ch]"))
    # Names that lists make by pasting: SCREE_PROBE_ + ID and so on.
    for list_, prefixes in [("SCREE_PROBES", ["SCREE_PROBE_", "PROBE_"]), ("SCREE_SOLID_SHAPES", ["SCREE_SHAPE_", "SHAPE_"])]:
        rows = re.search(rf"#define {list_}\(X\)(.*?)\n\n", sources, re.S)[1]
        sources += " ".join(prefix + id_ for id_ in re.findall(r"X\((\w+),", rows) for prefix in prefixes)
    wrong = []
    for page in PAGES:
        words = re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", (ROOT / page).read_text(), flags=re.S))
        wrong += [f"{page}: no file {word}" for word in words if FILE.match(word) and not (ROOT / word).exists()]
        wrong += [f"{page}: no name {word}" for word in words
                  if NAME.match(word) and not re.search(rf"\b{word}\b", sources)]
        if not any(FILE.match(word) for word in words):
            wrong.append(f"{page}: names no file")
        rows = re.findall(r"^ *X\(.*\)$", (ROOT / page).read_text(), re.M)
        plain = re.sub(r"\s*\\\n\s*", " ", sources)
        wrong += [f"{page}: no such row: {row.strip()}" for row in rows if row.strip() not in plain]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
