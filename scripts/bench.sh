#!/bin/bash
# Runs the benchmark suites (SUITES chooses) and writes their tables and JSON below out/bench/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
read -ra suites <<<"${SUITES:-neighbors scaling}"
mkdir -p out/bench
for suite in "${suites[@]}"; do
  echo "== $suite"
  build/scree bench "$suite" --report "out/bench/$suite.json" | tee "out/bench/$suite.txt"
done
echo "tables and JSON are in out/bench/"
