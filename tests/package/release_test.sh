#!/usr/bin/env bash
# release_test.sh SOURCE_TREE: the release tarball is the same bytes each time, and has what is needed to build. 77 without git.
set -euo pipefail
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "release_test: $*" >&2; exit 1; }

git -C "$source" rev-parse --verify --quiet HEAD >/dev/null 2>&1 || exit 77
mkdir "$work/one" "$work/two"
"$source/packaging/release" HEAD "$work/one" >/dev/null
sleep 1.1  # another second, which nothing may show
(umask 077 && TZ=Asia/Tokyo "$source/packaging/release" HEAD "$work/two" >/dev/null)
cmp "$work"/one/*.tar.gz "$work"/two/*.tar.gz || fail "the same revision gives other bytes"
tar -xzf "$work"/one/*.tar.gz -C "$work"
for file in CMakeLists.txt CMakePresets.json LICENSE README.md packaging/prepare src/cli/main.cc; do
  [ -s "$work"/holdfast-*/"$file" ] || fail "$file is not in it"
done
status=0
"$source/packaging/release" no-such-revision "$work" 2>"$work/said" || status=$?
[ $status -eq 2 ] && [ "$(wc -l <"$work/said")" -eq 1 ] || fail "a revision that is none ends with $status"
