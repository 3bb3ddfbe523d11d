#!/bin/bash
# Runs the best scene there is, draws it where the program can, and says where everything is. OUT chooses the folder.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=${OUT:-demo}
scree=build/scree
[ -x "$scree" ] || { echo "demo: $scree is missing: run \`make\`" >&2; exit 1; }

# The first of these that this build can run.
scene=
for candidate in scenes/sommer2022/hourglass.yaml scenes/none/burst.yaml; do
  if [ -e "$candidate" ] && "$scree" check "$candidate" >/dev/null 2>&1; then
    scene=$candidate
    break
  fi
done
[ -n "$scene" ] || { echo "demo: no scene can be run" >&2; exit 1; }

rm -rf "$out"
echo "demo: $scene"
"$scree" run "$scene" -o "$out"

# draw WHAT FILE ARGUMENTS...: a missing graphics library is no reason to fail.
drawn=()
draw() {
  local what=$1 file=$2
  shift 2
  if "$scree" render "$out" -o "$out/$file" "$@"; then drawn+=("$out/$file   $what"); else echo "demo: no $what"; fi
}
if "$scree" render --help >/dev/null 2>&1; then
  draw picture picture.png --frame -1
  draw film film.mp4
fi

echo
echo "The demo is in $out/:"
for line in "${drawn[@]}"; do echo "  $line"; done
echo "  $out/report.json   what was simulated and how long it took"
echo "  $out/probes.csv   measurements, a row per frame"
echo "  $out/coarse_*.ply   the grains, a file per frame"
