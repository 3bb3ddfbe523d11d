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

# Four seconds at the film's own rate: half a million fine grains make 16 MB a frame.
rm -rf "$out"
echo "demo: $scene"
"$scree" run "$scene" -o "$out" --seconds 4 --set frame_rate=30

# draw WHAT FILE ARGUMENTS...: a missing graphics library is no reason to fail.
drawn=()
draw() {
  local what=$1 file=$2
  shift 2
  if "$scree" render "$out" -o "$out/$file" "$@"; then drawn+=("$out/$file   $what"); else echo "demo: no $what"; fi
}
if "$scree" render --help >/dev/null 2>&1; then
  draw picture picture.png --frame 45
  draw film film.mp4 --size 960x540
fi

# The film has been made; of the frames the last one is kept.
for kind in coarse grains; do
  frames=("$out/$kind"_*.ply)
  if [ "${#frames[@]}" -gt 1 ]; then rm -f "${frames[@]:0:${#frames[@]}-1}"; fi
done

echo
echo "The demo is in $out/:"
for line in "${drawn[@]}"; do echo "  $line"; done
echo "  $out/report.json   what was simulated and how long it took"
echo "  $out/probes.csv   measurements, a row per frame"
echo "  $out/coarse_*.ply, $out/grains_*.ply   the last frame: simulated and fine grains"
name=${scene#scenes/}
echo "In a window: $scree view ${name%.yaml}"
