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

mkdir "$work/project"
cat >"$work/project/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C)
find_package(holdfast ${version%.*} REQUIRED)
add_executable(user ../user.c)
target_link_libraries(user PRIVATE holdfast::headers)
file(GLOB libraries \${holdfast_PRELOAD_DIR}/libholdfast-replicate-*.so)
if(NOT libraries)
  message(FATAL_ERROR "nothing to preload in \${holdfast_PRELOAD_DIR}")
endif()
END
cmake -G Ninja -S "$work/project" -B "$work/project/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$compiler" >"$work/cmake" 2>&1 &&
  cmake --build "$work/project/build" >>"$work/cmake" 2>&1 || { cat "$work/cmake"; fail "find_package(holdfast) is of no use"; }
[ "$("$work/project/build/user")" = "$version" ] || fail "the headers that find_package found say another version than $version"

for page in "$source"/docs/man/*; do
  [ -s "$prefix/share/man/man${page##*.}/$(basename "$page")" ] || fail "the manual page $(basename "$page") is not installed"
done
[ -s "$prefix/share/doc/holdfast/LICENSE" ] || fail "there is no licence"
bash -n "$prefix/share/bash-completion/completions/holdfast"
[ -s "$prefix/share/zsh/vendor-completions/_holdfast" ] && [ -s "$prefix/share/fish/vendor_completions.d/holdfast.fish" ] ||
  fail "the completions of zsh and fish are not installed"

# `module load` in a shell that begins without it, by the system's Environment Modules or Lmod.
module_command() {
  if command -v modulecmd >/dev/null; then
    modulecmd bash "$@"
  elif [ -x /usr/share/lmod/lmod/libexec/lmod ]; then
    /usr/share/lmod/lmod/libexec/lmod bash "$@"
  fi
}
export MODULEPATH=$prefix/share/holdfast/modulefiles
if [ -n "$(module_command load holdfast 2>/dev/null)" ]; then
  said=$(unset PKG_CONFIG_PATH && eval "$(module_command load holdfast)" && holdfast --version &&
    pkg-config --modversion holdfast && command -v holdfast)
  [ "$said" = "holdfast $version
$version
$prefix/$bindir/holdfast" ] || fail "module load holdfast gives: $said"
elif command -v modulecmd >/dev/null; then
  fail "module load holdfast says nothing"
fi

# Each installed file is in one Debian package (packaging/debian).
(cd "$prefix" && find . -type f -printf '%P\n' | sed "s|^$libdir/|usr/lib/ABI/|; t; s|^|usr/|" |
  grep -v '^usr/share/doc/holdfast/\(LICENSE\|CHANGELOG.md\)$' | sort) >"$work/files"
: >"$work/packaged"
for row in $(cat "$source"/packaging/debian/*.install); do
  row=${row/\*/ABI}
  grep -e "^$row\$" -e "^$row/" "$work/files" >>"$work/packaged" || true
done
[ -z "$(sort "$work/packaged" | uniq -d)" ] || fail "in two packages: $(sort "$work/packaged" | uniq -d)"
left=$(sort "$work/packaged" | comm -23 "$work/files" -)
[ -z "$left" ] || fail "in no package: $left"
