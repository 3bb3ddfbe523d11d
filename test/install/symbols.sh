#!/bin/bash
# libscree.so exports scree_* and nothing else, and libscree.a defines no other global symbol.
set -euo pipefail
cd "$SCREE_BUILD"
status=0
# check LIBRARY NM_OPTIONS...
check() {
  local library=$1 names others
  shift
  names=$(nm "$@" --defined-only "$library" | awk 'NF == 3 {print $3}')
  others=$(grep -v '^scree_' <<<"$names" || true)
  [ "$(grep -c '^scree_' <<<"$names")" -gt 0 ] || { echo "$library: no scree_* symbol"; status=1; }
  [ -z "$others" ] || { echo "$library: foreign symbols:"; echo "$others" | head -20; status=1; }
  echo "$library: $(wc -l <<<"$names") symbols"
}
check libscree.so -D
check libscree.a -g

# Every function that the public headers declare is there.
declared=$(cat "$SCREE_SOURCE"/include/scree/*.h | tr '\n' ' ' |
  grep -oE 'SCREE_API [^;{(]*\bscree_[a-z0-9_]+ *\(' | grep -oE 'scree_[a-z0-9_]+ *\($' | tr -d ' (' | sort -u)
defined=$(nm -D --defined-only libscree.so | awk '{print $3}' | sort -u)
absent=$(comm -23 <(echo "$declared") <(echo "$defined"))
[ -z "$absent" ] || { echo "declared, but not in libscree.so:"; echo "$absent"; status=1; }
exit $status
