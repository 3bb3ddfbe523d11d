#!/bin/bash
# Installs the Debian packages of the given groups (default: core features test) that are missing; see packages.txt.
# Does nothing, quickly, when all are there. SCREE_DEPS=skip leaves the machine alone.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

say() { printf 'deps: %s\n' "$*"; }
die() { printf 'deps: error: %s\n' "$*" >&2; exit 1; }

groups=("$@")
[ $# -gt 0 ] || groups=(core features test)
[ "${SCREE_DEPS:-}" != skip ] || exit 0

# Packages of the groups, in the order of the list.
wanted=()
while read -r group package _; do
  for chosen in "${groups[@]}"; do
    if [ "$group" = "$chosen" ]; then wanted+=("$package"); fi
  done
done < <(grep -v '^#' packages.txt)
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
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q "$@"; }
known() { apt-cache policy "${missing[@]}" 2>/dev/null | grep -c '^  Candidate: [^(]' || true; }

if [ "$(known)" -lt ${#missing[@]} ]; then
  apt update || die "apt-get update failed; is there a network?"
  [ "$(known)" -eq ${#missing[@]} ] || say "some packages are unknown to this system; Debian 12 has all of them"
  apt install -y --no-install-recommends "${missing[@]}" || die "apt-get could not install: ${missing[*]}"
else
  # The list may be older than the archive: a first failure asks for a new list.
  apt install -y --no-install-recommends "${missing[@]}" ||
    { apt update && apt install -y --no-install-recommends "${missing[@]}"; } ||
    die "apt-get could not install: ${missing[*]}"
fi
say "installed"
