#!/bin/bash
# The Python package as a wheel in build/wheel/, installed into the virtual environment build/venv/. Nothing is fetched:
# numpy, cffi and what builds the wheel are Debian's. PYTHON names another interpreter that has them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=${PYTHON:-}
for candidate in python3 /usr/bin/python3; do
  if [ -z "$python" ] && "$candidate" -c 'import cffi, numpy, setuptools, wheel, venv' 2>/dev/null; then
    python=$candidate
  fi
done
[ -n "$python" ] || { echo "no python3 has cffi, numpy, setuptools and wheel: run \`make deps\` first" >&2; exit 1; }
TARGETS=scree_python scripts/build.sh release
rm -rf build/wheel build/venv
SCREE_BUILD=$PWD/build "$python" -m pip wheel -q --no-build-isolation --no-deps --no-index --no-cache-dir \
  --disable-pip-version-check -w build/wheel python/
"$python" -m venv --system-site-packages build/venv
build/venv/bin/python -m pip install -q --no-index --no-deps --disable-pip-version-check build/wheel/scree-*.whl
(cd build && venv/bin/python -c 'import scree; print("scree", scree.version(), "for Python is in", scree.__path__[0])')
echo "use it with build/venv/bin/python, or install $(echo build/wheel/scree-*.whl)"
