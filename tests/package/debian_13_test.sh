#!/usr/bin/env bash
# debian_13_test.sh SOURCE_FOLDER: what .ci/debian-13 makes of each end that its steps can have, with a stand-in for
# tools/on_debian. Only what the machine is to blame for may be passed over.
set -eu
[ "$(id -u)" -eq 0 ] || { echo "skipped: .ci/debian-13 does nothing without root"; exit 77; }
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir "$place/.ci" "$place/tools"
cp "$1/.ci/debian-13" "$place/.ci"

# expect STATUS WORDS: with the stand-in on standard input, which gets what tools/on_debian would.
expect() {
  local status=0
  { echo '#!/bin/sh'; cat; } > "$place/tools/on_debian"
  chmod +x "$place/tools/on_debian"
  "$place/.ci/debian-13" > "$place/said" 2>&1 || status=$?
  if [ $status -ne "$1" ] || ! tail -n 1 "$place/said" | grep -q -- "$2"; then
    echo "FAILED: exit status $status, not $1, or its last line is without '$2':"
    cat "$place/said"
    exit 1
  fi
}

passed='echo "100% tests passed, 0 tests failed out of 160"'
expect 0 'in order.*0 tests failed out of 160' <<< "$passed"
expect 0 'NOT TESTED.*cannot fetch' <<< 'echo "apt-get cannot fetch"; exit 5'
expect 1 'FAILED.*exit status 1 of packaging/prepare --packages' <<< 'exit 1'
expect 1 'FAILED.*exit status 1 of env' <<< 'case $2 in env) exit 1 ;; esac'
expect 1 'FAILED.*exit status 5 of .ci/selection' <<< 'case $2 in .ci/selection) exit 5 ;; esac'
expect 1 'FAILED.*exit status 8 of .ci/selection' <<< 'case $2 in .ci/selection) exit 8 ;; esac'

# The time is over after a second; `timeout` counts in whole ones.
export HOLDFAST_DEBIAN_13_SECONDS=1
once='echo " 1/160 Test #7: core.A ....***Failed  0.2 sec"'
expect 0 'NOT TESTED.*were over' <<< "$once; exec sleep 20"
expect 1 'FAILED.*core.A' <<< "$once; $once; exec sleep 20"
