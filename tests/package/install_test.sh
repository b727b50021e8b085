#!/usr/bin/env bash
# install_test.sh BUILD_TREE SOURCE_TREE BINDIR LIBDIR C_COMPILER: what `cmake --install` puts in place works from there.
set -euo pipefail
build=$1 source=$2 bindir=$3 libdir=$4 compiler=$5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset HOLDFAST_LIBRARY_PATH

fail() { echo "install_test: $*" >&2; exit 1; }

cmake --install "$build" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/prefix"  # nothing may depend on the place it was installed to
prefix=$work/prefix
version=$(sed -n 's/^project(holdfast VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")

[ "$("$prefix/$bindir/holdfast" --version)" = "holdfast $version" ] || fail "holdfast --version is not $version"
"$prefix/$bindir/holdfast" doctor >"$work/doctor"
for library in "$build"/lib/libholdfast-replicate-*.so; do
  [ -e "$library" ] || continue
  name=$(basename "$library")
  [ -e "$prefix/$libdir/holdfast/$name" ] || fail "$name is not in $libdir/holdfast"
  grep -q "$prefix/$libdir/holdfast/$name" "$work/doctor" || fail "holdfast does not find the installed $name"
done

export PKG_CONFIG_PATH=$prefix/$libdir/pkgconfig
[ "$(pkg-config --modversion holdfast)" = "$version" ] || fail "pkg-config says another version than $version"
printf '#include <holdfast/version.h>\n#include <stdio.h>\nint main(void) { puts(HOLDFAST_VERSION_STRING); return 0; }\n' \
  >"$work/user.c"
# shellcheck disable=SC2046  # flags are several words
"$compiler" $(pkg-config --cflags holdfast) "$work/user.c" -o "$work/user"
[ "$("$work/user")" = "$version" ] || fail "version.h says another version than $version"

[ -s "$prefix/share/man/man1/holdfast.1" ] || fail "there is no manual page"
[ -s "$prefix/share/doc/holdfast/LICENSE" ] || fail "there is no licence"
bash -n "$prefix/share/bash-completion/completions/holdfast"
