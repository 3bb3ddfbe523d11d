"""The tables of docs/truth.md are what scripts/truth_docs.py makes from the stored report of `scree validate`."""
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(os.environ.get("SCREE_SOURCE", Path(__file__).resolve().parents[2]))

if __name__ == "__main__":
    sys.exit(subprocess.run([sys.executable, ROOT / "scripts/truth_docs.py", "--check"]).returncode)
