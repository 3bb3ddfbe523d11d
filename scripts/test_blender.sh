#!/bin/bash
# Renders a frame of the excavator with the add-on in Blender, without a screen, and looks at it. Needs blender.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
command -v blender >/dev/null || { echo "blender is missing: apt-get install blender" >&2; exit 1; }
out=out/blender
build/scree run sommer2022/excavator -o $out --frames 90 --set method.radius=0.03 --set upsample.radius=0.012 --quiet
build/scree export $out --format vtp --quiet
build/scree export $out --format compact -o $out/compact --quiet
blender -b --factory-startup --python-exit-code 1 --python python/blender/test_blender.py -- $out "$PWD/$out/blender.png"
