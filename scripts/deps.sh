#!/bin/bash
# Installs the Debian packages of the given groups (default: core features python test) that are missing; see packages.txt.
# Does nothing, quickly, when all are there. SCREE_DEPS=skip leaves the machine alone.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

say() { printf 'deps: %s\n' "$*"; }
die() { printf 'deps: error: %s\n' "$*" >&2; exit 1; }

groups=("$@")
[ $# -gt 0 ] || groups=(core features python test)
[ "${SCREE_DEPS:-}" != skip ] || exit 0

# Packages of the groups, in the order of the list.
wanted=()
while read -r group package _; do
  for chosen in "${groups[@]}"; do
    if [ "$group" = "$chosen" ]; then wanted+=("$package"); fi
  done
done <<<"$(grep -v '^#' packages.txt)"
[ ${#wanted[@]} -gt 0 ] || die "no such group: ${groups[*]}"

if ! command -v dpkg-query apt-get >/dev/null; then
  say "this is not a Debian system; scree needs what these packages hold: ${wanted[*]}"
  exit 0
fi

missing=()
installed=$(dpkg-query -W -f '${db:Status-Abbrev}${Package}\n' "${wanted[@]}" 2>/dev/null || true)
for package in "${wanted[@]}"; do
  grep -qx "ii $package" <<<"$installed" || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  say "all ${#wanted[@]} packages are there (${groups[*]})"
  exit 0
fi

say "will install ${#missing[@]} Debian packages and what they need: ${missing[*]}"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || die "needs root to install packages: run \`make deps\` as root, or install sudo"
  as_root=(sudo)
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Quiet unless it fails: then the last attempt is shown.
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q "$@" </dev/null >"$log" 2>&1; }
install() { apt install -y --no-install-recommends "${missing[@]}"; }
known() { apt-cache policy "${missing[@]}" 2>/dev/null | grep -c '^  Candidate: [^(]' || true; }
give_up() { tail -n 20 "$log" >&2; die "$1"; }

say "this may take a few minutes"
updated=no
if [ "$(known)" -lt ${#missing[@]} ]; then
  apt update || give_up "apt-get update failed; is there a network?"
  updated=yes
fi
if ! install; then
  # The list of packages may be older than the archive.
  [ $updated = no ] || give_up "apt-get could not install the packages"
  apt update || give_up "apt-get update failed; is there a network?"
  install || give_up "apt-get could not install the packages"
fi
say "installed"
