#!/bin/bash
# Runs the best scene there is, draws it as it runs where the program can, and says where everything is. OUT chooses the
# folder.
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

# run ARGUMENTS...: four seconds at the film's own rate. Pictures come from the world itself: half a million fine grains
# would make files of 16 MB a frame.
run() {
  rm -rf "$out"
  "$scree" run "$scene" -o "$out" --seconds 4 --set frame_rate=30 --frames-format none --checkpoint-every 0 "$@"
}
still=(--still "$out/picture.png" --still-frame 45 --size 960x540)
film=(--film "$out/film.mp4")

# Nothing to draw with, or no ffmpeg, is no reason to fail.
echo "demo: $scene"
run "${still[@]}" "${film[@]}" || { echo "demo: no film"; run "${still[@]}"; } || { echo "demo: no picture"; run; }

echo
echo "The demo is in $out/:"
for line in "picture.png   a picture" "film.mp4   a film" "report.json   what was simulated and how long it took" \
  "probes.csv   measurements, a row per frame"; do
  if [ -e "$out/${line%% *}" ]; then echo "  $out/$line"; fi
done
name=${scene#scenes/}
name=${name%.yaml}
echo "In a window: $scree view $name"
echo "With a file of grains per frame: $scree run $name"
