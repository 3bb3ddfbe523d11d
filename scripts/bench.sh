#!/bin/bash
# Runs the benchmark suites (SUITES chooses; THREADS, 2 unless given) and writes their tables and JSON below out/bench/.
# All of them take the better part of an hour, narain most of it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# Those that the program has, without the parts of others: sommer has upsample, dem has exchange, geometry has sampling.
every=$(build/scree bench --help | sed -n '/^SUITE is one of/,/^$/s/^  \([a-z]*\) .*/\1/p' | grep -vxE 'upsample|exchange|sampling' | xargs)
read -ra suites <<<"${SUITES:-$every}"
mkdir -p out/bench
for suite in "${suites[@]}"; do
  echo "== $suite"
  build/scree bench "$suite" --threads "${THREADS:-2}" --report "out/bench/$suite.json" | tee "out/bench/$suite.txt"
done
echo "tables and JSON are in out/bench/"
