"""docs/warnings.md explains every counter of report.json: the names that sources give to state_count, and no others."""
import os
import re
import sys
from pathlib import Path

ROOT = Path(os.environ.get("SCREE_SOURCE", Path(__file__).resolve().parents[2]))
PAGE = ROOT / "docs/warnings.md"
CALL = re.compile(r"\bstate_count\([^,()]+, (?:\"(\w+)\"|(\w+)\[)")


def counters():
    """Names by the file that counts them; a name that is no literal comes from a table in the same file."""
    names, wrong = {}, []
    for path in sorted((ROOT / "src").rglob("*.c")):
        text = path.read_text()
        calls = len(re.findall(r"(?<!void )\bstate_count\(", text))
        found = CALL.findall(text)
        if calls != len(found):
            wrong.append(f"{path.relative_to(ROOT)}: a call of state_count whose name this test cannot read")
        for literal, table in found:
            words = [literal] if literal else re.findall(r'"(\w+)"', re.search(rf"\b{table}\[\] = \{{(.*?)\}};", text, re.S)[1])
            names.update({word: path.relative_to(ROOT) for word in words})
    return names, wrong


def main():
    names, wrong = counters()
    page = PAGE.read_text()
    listed = set(re.findall(r"^\| \[`(\w+)`\]", page, re.M))
    headings = set(re.findall(r"\w+", " ".join(re.findall(r"^## (.*)", page, re.M))))
    wrong += [f"docs/warnings.md does not list {name} of {path}" for name, path in names.items() if name not in listed]
    wrong += [f"docs/warnings.md does not explain {name}" for name in sorted(listed - headings)]
    wrong += [f"docs/warnings.md lists {name}, which nothing counts" for name in sorted(listed - set(names))]
    print("\n".join(wrong))
    return 1 if wrong or not names else 0


if __name__ == "__main__":
    sys.exit(main())
