"""The tables of docs/performance.md are what scripts/bench_docs.py makes from bench/results/ and bench/targets.json."""
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(os.environ.get("SCREE_SOURCE", Path(__file__).resolve().parents[2]))

if __name__ == "__main__":
    sys.exit(subprocess.run([sys.executable, ROOT / "scripts/bench_docs.py", "--check"]).returncode)
