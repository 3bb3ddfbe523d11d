#!/bin/bash
# Fuzzes every target (or those in NAMES) for SECONDS_EACH (default 600), from where the last run stopped.
# An input that breaks something is left in build-asan/crashes/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
seconds=${SECONDS_EACH:-600}

scripts/build.sh asan
status=0
for source in test/fuzz/fuzz_*.c; do
  name=$(basename "$source" .c)
  name=${name#fuzz_}
  if [ -n "${NAMES:-}" ] && [[ " $NAMES " != *" $name "* ]]; then continue; fi
  folders=("build-asan/corpus/$name")
  if [ -d "test/fuzz/$name" ]; then folders+=("test/fuzz/$name"); fi
  echo "== $name: $seconds s"
  "build-asan/fuzz_$name" -max_total_time="$seconds" -timeout=300 -rss_limit_mb=2048 \
    -artifact_prefix="build-asan/crashes/${name}_" "${folders[@]}" || status=1
done
exit $status
