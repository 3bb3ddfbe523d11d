#!/bin/bash
# libyaml_source.sh FOLDER: puts the source of Debian's libyaml into FOLDER, for builds that the packaged library does not
# fit (the browser's). It is fetched from the archive that this machine installs from; its lists are left alone.
set -euo pipefail
folder=$1
[ ! -e "$folder/src/scanner.c" ] || exit 0

die() { printf 'libyaml: error: %s\n' "$*" >&2; exit 1; }
command -v apt-get >/dev/null || die "this is not a Debian system; unpack libyaml's source into $folder"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/parts" "$work/lists/partial" "$work/source"
key=/usr/share/keyrings/debian-archive-keyring.gpg
[ -e "$key" ] || key=
# shellcheck disable=SC2016 # apt fills these in
apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' |
  sort -u | sed "s|^|deb-src ${key:+[signed-by=$key] }|" >"$work/parts/source.list"
[ -s "$work/parts/source.list" ] || die "apt knows no Debian archive: run \`apt-get update\`"

options=(-q -o "Dir::Etc::sourcelist=/dev/null" -o "Dir::Etc::sourceparts=$work/parts" -o "Dir::State::lists=$work/lists"
  -o "Dir::Cache::srcpkgcache=" -o "Dir::Cache::pkgcache=" -o "APT::Sandbox::User=")
(
  cd "$work/source"
  apt-get "${options[@]}" update && apt-get "${options[@]}" source --download-only libyaml && dpkg-source -x ./*.dsc tree
) >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; die "could not fetch the source package; is there a network?"; }
mkdir -p "$(dirname "$folder")"
rm -rf "$folder"
mv "$work/source/tree" "$folder"
