#!/usr/bin/env bash
# prepare_test.sh SOURCE_TREE: what packaging/prepare makes of an archive that is out of reach. apt is a stand-in: what it
# would do takes minutes and a network that is broken on purpose.
set -euo pipefail
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() { echo "prepare_test: $*" >&2; exit 1; }

# expect STATUS PATTERN COMMAND...: the command ends so, and its last line is like that.
expect() {
  local wanted=$1 pattern=$2 status=0
  shift 2
  "$@" >"$work/out" 2>&1 || status=$?
  [ $status -eq "$wanted" ] || fail "$*: exit status $status, not $wanted: $(cat "$work/out")"
  tail -n 1 "$work/out" | grep -qE "$pattern" || fail "$*: not like '$pattern': $(tail -n 1 "$work/out")"
}

mkdir "$work/bin"
stand_in() { printf '#!/bin/sh\n%s\n' "$2" >"$work/bin/$1"; chmod +x "$work/bin/$1"; }
stand_in sudo 'exec "$@"'
stand_in dpkg-query 'exit 1'
stand_in apt-cache '[ "$KNOWN" = yes ] && echo "Package: $3"'
stand_in apt-get 'case "$*" in
  update*) exit "$UPDATE" ;;
  *--download-only*) exit "$FETCH" ;;
  install*) exit "$INSTALL" ;;
esac'
prepare() { env PATH="$work/bin:$PATH" KNOWN=yes UPDATE=0 FETCH=0 INSTALL=0 "$@" "$source/packaging/prepare" --packages selection; }
expect 0 'Installing [0-9]+ Debian packages' prepare
expect 0 'Installing [0-9]+ Debian packages' prepare UPDATE=100  # another archive than Debian's
expect 5 'knows no package' prepare KNOWN=no UPDATE=100
expect 1 'knows no package' prepare KNOWN=no
expect 5 'cannot fetch' prepare INSTALL=100 FETCH=100
expect 1 'cannot install what it has fetched' prepare INSTALL=100
expect 2 'no purpose' "$source/packaging/prepare" nothing
