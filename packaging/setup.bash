# What ./test and ./demo share: installing what is missing, and building. Sourced from the repository's root.

say() { printf '\n== %s\n' "$*"; }

# packages_of GROUP...: the names in those groups of packages.txt.
packages_of() {
  local group
  for group in "$@"; do
    sed -n "s/^$group  *//p" packaging/packages.txt
  done | tr ' ' '\n' | sed '/^$/d'
}

# missing_of NAME...: those that are not installed.
missing_of() {
  local name
  for name in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || printf '%s\n' "$name"
  done
}

# install_groups GROUP...: says what is about to be installed, and installs it.
install_groups() {
  local names missing sudo=()
  mapfile -t names < <(packages_of "$@")
  mapfile -t missing < <(missing_of "${names[@]}")
  if [ ${#missing[@]} -eq 0 ]; then
    say "All ${#names[@]} Debian packages that this needs are installed"
    return
  fi
  say "About to install ${#missing[@]} Debian packages: ${missing[*]}"
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
      echo "installing packages: this needs root or sudo: run it as root, or install them by hand" >&2
      return 1
    }
    sudo=(sudo)
  fi
  "${sudo[@]}" apt-get update -q
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
}

# build_release [TARGET...]: configures and builds the release preset.
build_release() {
  local launcher=()
  command -v ccache >/dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache)
  say "Building into build/release"
  cmake --preset release "${launcher[@]}" >build-release.log 2>&1 || {
    cat build-release.log >&2
    rm -f build-release.log
    return 1
  }
  rm -f build-release.log
  cmake --build build/release -j "$(nproc)" ${1:+--target "$@"}
}
