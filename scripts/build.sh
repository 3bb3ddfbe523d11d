#!/bin/bash
# build.sh PRESET [cmake options...]: configures and builds one of CMakePresets.json. TARGETS names what to build,
# MUJOCO_DIR the folder of a MuJoCo release to build against (docs/bodies.md).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
preset=$1
shift

for tool in cmake ninja cc pkg-config; do
  command -v "$tool" >/dev/null || { echo "$tool is missing: run \`make deps\` first" >&2; exit 1; }
done
log=$(mktemp)
trap 'rm -f "$log"' EXIT
[ -n "${MUJOCO_DIR-}" ] && set -- "-DMUJOCO_DIR=$MUJOCO_DIR" "$@"
if ! cmake --preset "$preset" -DSCREE_TESTS="$(pkg-config --exists cmocka && echo ON || echo OFF)" "$@" >"$log" 2>&1; then
  cat "$log" >&2
  exit 1
fi
grep -E '^-- feature .*OFF' "$log" || true
# shellcheck disable=SC2086 # TARGETS is a list of words
cmake --build --preset "$preset" --target ${TARGETS:-all}
