#!/bin/bash
# web.sh: builds web/, the page with the simulator as WebAssembly: static files for any web server. Emscripten compiles in
# build-web/. WEB_KINDS=plain leaves the build for several threads out.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

command -v emcc >/dev/null || { echo "emcc is missing: run \`make deps DEPS=web\` first" >&2; exit 1; }
# Debian's Emscripten finds its packages for node by this, and must use the cache that came with it.
export NODE_PATH=/usr/share/nodejs
unset EM_CACHE
scripts/libyaml_source.sh build-web/libyaml
log=$(mktemp)
trap 'rm -f "$log"' EXIT
quietly() { "$@" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }; }
quietly emcmake cmake -S . -B build-web -G Ninja -DSCREE_YAML_SOURCE="$PWD/build-web/libyaml" \
  -DSCREE_WEB_KINDS="${WEB_KINDS:-plain;threads}"
quietly cmake --build build-web
# MuJoCo, for scenes with a mechanism; without it they open without their machine.
npm=build-web/npm
mkdir -p $npm
if ! cmp -s app/web/npm/package-lock.json $npm/node_modules/.of; then
  cp app/web/npm/package.json app/web/npm/package-lock.json $npm/
  if (cd $npm && npm ci --ignore-scripts --no-audit --no-fund) >"$log" 2>&1; then
    cp $npm/package-lock.json $npm/node_modules/.of
  else
    echo "web: npm could not fetch MuJoCo: scenes with a machine will open without it" >&2
    tail -n 3 "$log" >&2
  fi
fi
python3 scripts/web_files.py build-web web
echo "web/ is ready: build/scree serve"
