"""Files stay readable: above 800 lines a warning, above 1000 a failure. Tables of data are not counted."""
import os
import sys
from pathlib import Path

ROOT = Path(os.environ.get("SCREE_SOURCE", Path(__file__).resolve().parents[2]))
WARN, FAIL = 800, 1000


def main():
    failed = 0
    for top in ("include", "src", "app", "bench", "test", "examples", "scripts", "cmake"):
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix not in (".c", ".h", ".cpp", ".py", ".sh", ".cmake"):
                continue
            lines = path.read_text(errors="replace").count("\n")
            if lines > WARN:
                failed += lines > FAIL
                print(f"{path.relative_to(ROOT)}: {lines} lines, {'error' if lines > FAIL else 'warning'}: "
                      f"files stay under about {WARN}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
