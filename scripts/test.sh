#!/bin/bash
# Every test: release, then the quick ones under AddressSanitizer and UndefinedBehaviorSanitizer with a short fixed run
# of each fuzz target, then the threaded ones under ThreadSanitizer. Closes with `N passed, N failed`.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
# What can be installed is: a test that misses it fails instead of being skipped.
export SCREE_STRICT=1

passed=0
failed=0
broken=()
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# list_skipped PRESET: names parts of tests that could not run here (as root, without mounts), which ctest counts as passed.
# Physics with sanitizers is cut short by intent.
list_skipped() {
  local folder=build
  [ "$1" = release ] || folder=build-$1
  awk '/^[0-9]+\/[0-9]+ Testing: / { name = $3 }
       name !~ /^physics/ && (/OK \(skipped=/ || /\[  SKIPPED \] [0-9]+ test/) { print "skipped in " name ": " $0 }' \
    "$folder/Testing/Temporary/LastTest.log" 2>/dev/null
}

# stage PRESET TARGETS: builds, runs the tests of the preset, adds up. A build that fails counts as one failed test.
stage() {
  local begin=$SECONDS count lost
  echo "== $1"
  if ! TARGETS=$2 scripts/build.sh "$1"; then
    failed=$((failed + 1))
    broken+=("$1: build")
    return
  fi
  local built=$((SECONDS - begin))
  ctest --preset "$1" -j "$(nproc)" 2>&1 | tee "$log"
  # `96% tests passed, 1 tests failed out of 25`, and the names of the failed behind it.
  read -r lost count < <(sed -n 's/^[0-9]*% tests passed, \([0-9]*\) tests failed out of \([0-9]*\)$/\1 \2/p' "$log")
  if [ -z "${count:-}" ]; then
    failed=$((failed + 1))
    broken+=("$1: no tests ran")
    return
  fi
  local skipped name
  mapfile -t skipped < <(sed -n 's/^.* Test *#[0-9]*: \([^ ]*\) \.*\*\*\*Skipped.*/\1/p' "$log")
  count=$((count - ${#skipped[@]}))
  for name in "${skipped[@]}"; do echo "skipped: $1: $name"; done
  passed=$((passed + count - lost))
  failed=$((failed + lost))
  while read -r name; do broken+=("$1: $name"); done < <(
    sed -n '/(Skipped)$/d; s/^\t *[0-9]* - \([^ ]*\) (.*)$/\1/p; s/^\t *[0-9]* - \([^ ]*\) (.*) *[a-z ]*$/\1/p' "$log" | sort -u)
  list_skipped "$1"
  echo "== $1: $((count - lost)) of $count passed; build $built s, tests $((SECONDS - begin - built)) s"
}

# What the tests of the page look at.
if ! scripts/web.sh; then
  failed=$((failed + 1))
  broken+=("web: build")
fi
stage release all
stage asan all
stage tsan tests_threads

for name in "${broken[@]}"; do echo "failed: $name"; done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
