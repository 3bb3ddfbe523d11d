"""What doxygen reads of the public headers (scripts/api_comments.py) is C, has every list of members written out and, where
doxygen is installed, makes a reference without a warning."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(os.environ.get("SCREE_SOURCE", Path(__file__).resolve().parents[2]))


def check_headers():
    wrong = []
    for header in sorted((ROOT / "include/scree").glob("*.h")):
        text = subprocess.run([sys.executable, ROOT / "scripts/api_comments.py", header], check=True, capture_output=True,
                              text=True).stdout
        compiled = subprocess.run(["cc", "-std=gnu17", "-fsyntax-only", "-x", "c", f"-I{ROOT}/include", "-"], input=text,
                                  capture_output=True, text=True)
        if compiled.returncode:
            wrong.append(f"{header.name}: {compiled.stderr}")
        wrong += [f"{header.name}: not written out: {line}" for line in re.findall(r"^ *SCREE_\w+\(SCREE_(?:MEMBER|\w+_STRUCT)\)$",
                                                                                    text, re.M)]
    return wrong


def check_doxygen():
    if not shutil.which("doxygen"):
        return []
    with tempfile.TemporaryDirectory() as folder:
        made = subprocess.run(["doxygen", "-"], cwd=ROOT, capture_output=True, text=True,
                              input=(ROOT / "docs/Doxyfile").read_text() + f"\nOUTPUT_DIRECTORY = {folder}\n")
        page = Path(folder) / "html/structScreeMaterialDef.html"
        if made.returncode or not page.exists() or "bulk density" not in page.read_text():
            return [f"doxygen: {made.stdout}{made.stderr}"]
    return []


if __name__ == "__main__":
    problems = check_headers() + check_doxygen()
    print("\n".join(problems))
    sys.exit(1 if problems else 0)
