#!/bin/bash
# Installs into a temporary folder and uses what is there as an outsider would: pkg-config (shared, static), CMake, the
# program, and from C++ the headers.
set -euo pipefail
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
prefix=$root/prefix
cmake --install "$SCREE_BUILD" --prefix "$prefix" >/dev/null
pc=$(find "$prefix" -name scree.pc)
libraries=$(dirname "$(dirname "$pc")")
export PKG_CONFIG_PATH=$libraries/pkgconfig SCREE_DATA=$prefix/share/scree
cp "$SCREE_SOURCE"/examples/{hello.c,scene.c,tool.c,CMakeLists.txt} "$root"
cd "$root"

# runs PROGRAM: hello tells of grains in flight.
runs() {
  "$1" | tee "$root/said"
  grep -q 'grains' "$root/said" && grep -q 't = 0.6 s' "$root/said"
}

echo "== pkg-config, shared"
# shellcheck disable=SC2046 # flags are words
cc -Wall -Wextra -Werror hello.c $(pkg-config --cflags --libs scree) -o hello_shared
LD_LIBRARY_PATH=$libraries runs ./hello_shared
echo "== pkg-config, static"
# shellcheck disable=SC2046
cc -Wall -Wextra -Werror hello.c $(pkg-config --cflags --libs scree-static) -o hello_static
runs ./hello_static
ldd hello_static >said
if grep libscree said; then echo "hello_static needs libscree.so"; exit 1; fi
cmp <(LD_LIBRARY_PATH=$libraries ./hello_shared) <(./hello_static)

echo "== the program in README.md"
# shellcheck disable=SC2016 # back quotes of Markdown
sed -n '/^```c$/,/^```$/{/^```/d;p}' "$SCREE_SOURCE/README.md" >readme.c
# shellcheck disable=SC2046
cc -Wall -Wextra -Werror readme.c $(pkg-config --cflags --libs scree) -o readme
LD_LIBRARY_PATH=$libraries ./readme | head -3 | tee said
[ "$(wc -l <said)" -eq 3 ]

echo "== CMake"
cmake -G Ninja -B build -S . -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build build >/dev/null
runs build/hello
runs build/hello_static
build/tool | tee said
grep -q 'draft  *[1-9][0-9]*\.' said

if command -v g++ >/dev/null; then
  echo "== headers from C++"
  for header in "$prefix"/include/scree/*.h; do
    g++ -x c++ -std=c++17 -fsyntax-only -Wall -Wextra -Werror -I"$prefix/include" "$header" \
      -Wno-pragma-once-outside-header
  done
fi

if [ -x "$prefix/bin/scree" ]; then
  echo "== program"
  "$prefix/bin/scree" --version
  "$prefix/bin/scree" list scenes | tee said
  grep -q '^none/burst ' said
  build/scene none/burst 1
fi
