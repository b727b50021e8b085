#!/usr/bin/env bash
# on_debian_test.sh SOURCE_FOLDER: all that tools/on_debian began ends with it, and what an installation that was cut off
# comes to; in a root folder that has a shell and a stand-in for dpkg.
set -euo pipefail
unshare --mount --pid --fork chroot / true 2> /dev/null || { echo "skipped: no mounts or no chroot"; exit 77; }
command -v git > /dev/null || { echo "skipped: no git, by which tools/on_debian knows what to copy"; exit 77; }
place=$(mktemp -d)
trap 'rm -rf --one-file-system "$place"' EXIT
root=$place/roots/debian-13
export HOLDFAST_ROOTS=$place/roots PATH=$place/bin:$PATH
unset HOLDFAST_IN_NAMESPACES

fail() { echo "on_debian_test: $*" >&2; exit 1; }

mkdir -p "$place/tree/tools" "$place/bin" "$root"/{dev,etc,proc,run,sys,tmp,usr/bin}
cp "$1/tools/on_debian" "$place/tree/tools"
git -C "$place/tree" init -q
printf '#!/bin/sh\nexit 1\n' > "$place/bin/debootstrap"
chmod +x "$place/bin/debootstrap"
for program in /usr/bin/env /bin/sh /bin/sleep; do
  cp --dereference "$program" "$root/usr/bin"
  ldd "$program" | grep -o '/[^ ]*' | while read -r library; do cp --dereference --parents "$library" "$root"; done
done
printf '#!/usr/bin/sh\nexit 0\n' > "$root/usr/bin/dpkg"
chmod +x "$root/usr/bin/dpkg"

# Who is in the root folder.
inside() {
  local process
  for process in /proc/[0-9]*; do
    [ "$(readlink "$process/root" 2> /dev/null || true)" != "$root" ] || echo "${process#/proc/}"
  done
}
# within SECONDS COMMAND...: it comes true.
within() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do [ $SECONDS -lt $end ] || return 1; sleep 0.1; done
}
nobody_inside() { [ -z "$(inside)" ]; }

for signal in TERM KILL; do
  rm -f "$root/begun"
  "$place/tree/tools/on_debian" 13 sh -c 'sleep 1000 & : > /begun; sleep 1000' &
  tool=$!
  within 30 test -e "$root/begun" || fail "it did not begin"
  [ -n "$(inside)" ] || fail "nobody is in the root folder"
  kill -s $signal $tool
  wait $tool 2> /dev/null || true
  within 30 nobody_inside || { kill -KILL $(inside); fail "after SIG$signal there are still processes"; }
done

status=0
"$place/tree/tools/on_debian" 13 sh -c 'exit 7' || status=$?
[ $status -eq 7 ] || fail "exit status $status, not the command's"

# A file that is as it was keeps its time, by which ninja knows what to build; one that changed is newer.
moment() { stat --format %.Y "$root/holdfast/$1"; }
: > "$place/tree/changes"
"$place/tree/tools/on_debian" 13 sh -c :
before=$(moment tools/on_debian) changed_before=$(moment changes)
echo more > "$place/tree/changes"
"$place/tree/tools/on_debian" 13 sh -c :
[ "$(moment tools/on_debian)" = "$before" ] || fail "a file that is as it was has another time"
[ "$(moment changes)" != "$changed_before" ] || fail "a file that changed has the old time"

printf '#!/usr/bin/sh\nexit 1\n' > "$root/usr/bin/dpkg"
status=0
"$place/tree/tools/on_debian" 13 true > "$place/said" 2>&1 || status=$?
[ $status -eq 5 ] && [ ! -e "$root" ] || fail "a root folder that cannot be mended: exit status $status: $(cat "$place/said")"
