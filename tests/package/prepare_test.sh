#!/usr/bin/env bash
# prepare_test.sh SOURCE_TREE: what packaging/prepare makes of an archive that is out of reach, and what .ci/debian-13 makes
# of what happened there: only the machine's own failures are passed over. apt, and Debian 13, are stand-ins: what they
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

[ "$(id -u)" -eq 0 ] || exit 0  # .ci/debian-13 says that it needs root
mkdir -p "$work/tree/.ci" "$work/tree/tools"
cp "$source/.ci/debian-13" "$work/tree/.ci"
cat >"$work/tree/tools/on_debian" <<'EOT'
#!/bin/sh
case "$*" in
  *--packages*) echo fetching; sleep "$FETCHING"; exit "$FETCHED" ;;
  *) echo "100% tests passed, 0 tests failed out of 200"; sleep "$TESTING"; exit "$TESTED" ;;
esac
EOT
chmod +x "$work/tree/tools/on_debian"
debian() { env FETCHING=0 FETCHED=0 TESTING=0 TESTED=0 "$@" "$work/tree/.ci/debian-13"; }
expect 0 'in order after .* out of 200' debian
expect 0 'SKIPPED, nothing was tested there: fetching' debian FETCHED=5
expect 0 'SKIPPED.* did not come within' debian FETCHING=60 HOLDFAST_DEBIAN_13_FETCH=0.01
expect 1 'FAILED.* exit status 1 of packaging/prepare' debian FETCHED=1
expect 1 'FAILED.* exit status 8 of .ci/selection' debian TESTED=8
expect 1 'FAILED.* exit status 5 of .ci/selection' debian TESTED=5
expect 1 'FAILED.* not done within' debian TESTING=60 HOLDFAST_DEBIAN_13_MINUTES=0.01
