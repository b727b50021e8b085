#!/usr/bin/env bash
# mpi_prefix_test.sh SOURCE_TREE C_COMPILER: an MPI in a prefix of its own is built for when its mpicc is in PATH or CC. The
# prefixes are stand-ins: wrappers that say what those of MPICH and Open MPI say, headers that define the same names.
set -euo pipefail
source=$1 compiler=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset CC CXX HOLDFAST_MPICC

fail() { echo "mpi_prefix_test: $*" >&2; exit 1; }

make_prefix() { # name, header's definition, library
  local prefix=$work/$1 program
  mkdir -p "$prefix"/{bin,include,lib}
  echo "#define $2 1" > "$prefix/include/mpi.h"
  "$compiler" -shared -o "$prefix/lib/$3" -x c /dev/null
  for program in mpicc mpicxx mpiexec; do
    printf '#!/bin/sh\n[ "$1" = -show ] || exec %s "$@"\necho "%s -I%s -L%s -lmpi"\n' "$compiler" "$compiler" \
      "$prefix/include" "$prefix/lib" > "$prefix/bin/$program"
    chmod +x "$prefix/bin/$program"
  done
}
make_prefix openmpi-5 OPEN_MPI libmpi.so.40
printf '#!/bin/sh\nexit 1\n' > "$work/openmpi-5/bin/mpifort" # as of an MPI without its Fortran modules
chmod +x "$work/openmpi-5/bin/mpifort"
make_prefix mpich-4 MPICH_VERSION libmpi.so.12
make_prefix other-1 LAM_MPI libmpi.so.1

mkdir "$work/project"
cat > "$work/project/CMakeLists.txt" << END
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C)
list(APPEND CMAKE_MODULE_PATH $source/cmake)
include(HoldfastMpi)
foreach(flavour \${HOLDFAST_MPI_FLAVOURS})
  foreach(what CC CXX FORTRAN LIBRARY INCLUDE_DIRS)
    message(STATUS "\${flavour} \${what} \${HOLDFAST_MPI_\${flavour}_\${what}}")
  endforeach()
endforeach()
if(HOLDFAST_MPI_abi_INCLUDE_DIRS)
  message(STATUS "abi \${HOLDFAST_MPI_abi_CC} \${HOLDFAST_MPI_abi_LIBRARY} \${HOLDFAST_MPI_abi_INCLUDE_DIRS}")
endif()
END
configure() { # build folder, arguments
  cmake -G Ninja -S "$work/project" -B "$work/$1" -DCMAKE_C_COMPILER="$compiler" "${@:2}" > "$work/$1.said" 2>&1 ||
    { cat "$work/$1.said"; fail "cmake fails for $1"; }
}
holds() { # build folder, flavour, prefix
  for line in "CC $work/$3/bin/mpicc" "CXX $work/$3/bin/mpicxx" "LIBRARY $work/$3/lib/libmpi.so" "INCLUDE_DIRS $work/$3/include"; do
    grep -q -e "-- $2 $line" "$work/$1.said" || { cat "$work/$1.said"; fail "$1: no '$2 $line'"; }
  done
}

PATH=$work/openmpi-5/bin:$PATH configure in-path
holds in-path openmpi openmpi-5
grep -q "looking at $work/openmpi-5/bin/mpifort: it has no mpi_f08" "$work/in-path.said" || fail "an MPI without Fortran is not named"
grep -q -e "-- openmpi FORTRAN .*NOTFOUND" "$work/in-path.said" || fail "an MPI without Fortran has Fortran"
configure as-option -DHOLDFAST_MPICC="$work/mpich-4/bin/mpicc"
holds as-option mpich mpich-4
if command -v mpicc.openmpi > /dev/null; then # the other flavour stays Debian's
  grep -q -e "-- openmpi CC .*/mpicc.openmpi" "$work/as-option.said" || fail "Debian's Open MPI is no longer found"
fi
PATH=$work/other-1/bin:$PATH configure unknown
grep -q "looking at $work/other-1/bin/mpicc: it is left out" "$work/unknown.said" || fail "an MPI of another family is not named"

# The standard's interface, by its own wrapper; an MPI's own mpi.h, which may name the version too, is none.
make_prefix standard-5 "MPI_ABI_VERSION" libmpi_abi.so.1
make_prefix own-5 "MPI_ABI_VERSION" libmpi_abi.so.1
echo "#define MPICH_VERSION 5" >> "$work/own-5/include/mpi.h"
for prefix in standard-5 own-5; do mv "$work/$prefix/bin/mpicc" "$work/$prefix/bin/mpicc_abi"; done
PATH=$work/standard-5/bin:$PATH configure standard
place=$work/standard-5
grep -q -e "-- abi $place/bin/mpicc_abi $place/lib/libmpi_abi.so.1 $place/include" "$work/standard.said" ||
  { cat "$work/standard.said"; fail "the standard's interface is not found"; }
configure own -DHOLDFAST_MPI_ABI_MPICC="$work/own-5/bin/mpicc_abi"
grep -q "looking at $work/own-5/bin/mpicc_abi: it is left out" "$work/own.said" || fail "an MPI's own interface is taken for the standard's"

# CC=mpicc: the compiler behind it compiles, and nothing of Holdfast's own links MPI by itself.
mkdir "$work/first"
sed '/^project(/,$d' "$source/CMakeLists.txt" > "$work/first/CMakeLists.txt"
cat >> "$work/first/CMakeLists.txt" << 'END'
project(user LANGUAGES C)
message(STATUS "compiler ${CMAKE_C_COMPILER}, wrapper ${HOLDFAST_MPICC}")
END
CC=$work/mpich-4/bin/mpicc cmake -G Ninja -S "$work/first" -B "$work/first/build" > "$work/first.said" 2>&1 || fail "CC=mpicc: $(cat "$work/first.said")"
grep -q "wrapper $work/mpich-4/bin/mpicc" "$work/first.said" || { cat "$work/first.said"; fail "CC=mpicc is not taken for the MPI"; }
! grep -q "compiler .*mpicc," "$work/first.said" || fail "everything is compiled by mpicc"
