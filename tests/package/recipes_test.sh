#!/usr/bin/env bash
# recipes_test.sh SOURCE_TREE: the packages' files and Spack's recipe agree with the tree; what can be seen without a build.
set -euo pipefail
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "recipes_test: $*" >&2; exit 1; }
version=$(sed -n 's/^project(holdfast VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")
debian=$source/packaging/debian

PYTHONPYCACHEPREFIX=$work python3 -m py_compile "$source/packaging/spack/package.py"
grep -qF "version(\"$version\")" "$source/packaging/spack/package.py" || fail "Spack's recipe has no version $version"

# What dpkg's own tools make of control, changelog and rules.
mkdir "$work/tree"
cp -r "$debian" "$work/tree/debian"
if command -v dpkg-parsechangelog >/dev/null; then
  (cd "$work/tree" && dpkg-parsechangelog --all >"$work/changelog" 2>&1) || fail "the changelog: $(cat "$work/changelog")"
  packaged=$(sed -n 's/^Version: //p' "$work/changelog")
  [ "${packaged%-*}" = "$version" ] || fail "the packages are of $packaged, the tree of $version"
fi
for package in $(sed -n 's/^Package: //p' "$debian/control"); do
  [ -s "$debian/$package.install" ] || fail "nothing is in package $package"
  if command -v dpkg-gencontrol >/dev/null; then
    (cd "$work/tree" && dpkg-gencontrol -p"$package" -P"$work" -O >"$work/control" 2>"$work/said") ||
      fail "the control file, $package: $(cat "$work/said")"
    grep -q '^Description: .' "$work/control" || fail "$package has no description"
  fi
done

# A purpose of packages.txt that builds names what the packages build with.
for name in $(sed -n '/^Build-Depends:/,/^$/p' "$debian/control" | tr ',' '\n' | sed 's/Build-Depends://; s/(.*//; s/ //g'); do
  case $name in debhelper-compat | pkgconf) continue ;; esac
  grep -qx "$name" "$source/packaging/packages.txt" || fail "packages.txt does not have $name"
done
