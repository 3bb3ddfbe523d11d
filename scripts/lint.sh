#!/bin/bash
# Layout of C files against .clang-format, and of scripts against shellcheck, where these programs are.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
status=0
if command -v clang-format >/dev/null; then
  git ls-files -z '*.c' '*.h' | xargs -0 clang-format --dry-run --Werror 2>&1 |
    sed -n 's/^\([^:]*\):[0-9]*:[0-9]*: error: code should be clang-formatted.*/\1/p' | sort | uniq -c |
    sed 's/^ *\([0-9]*\) \(.*\)/\2: \1 places differ from .clang-format/' | { ! grep . ; } || status=1
else
  echo "lint: clang-format is missing; C files not looked at"
fi
for script in scripts/*.sh .ci/run test/*/*.sh; do
  [ -e "$script" ] || continue
  bash -n "$script" || status=1
  if command -v shellcheck >/dev/null; then shellcheck "$script" || status=1; fi
done
exit $status
