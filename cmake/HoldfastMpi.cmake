# Finds each MPI on its own, because Holdfast builds for several in one tree and find_package(MPI) keeps one. Sets, for
# every flavour of HOLDFAST_MPI_FLAVOURS (openmpi, mpich): HOLDFAST_MPI_<flavour>_INCLUDE_DIRS, _CC, _CXX, _LIBRARY (the
# shared library that programs link); a flavour of which one is missing is left out, with a message that says what to do.
include_guard(GLOBAL)
find_package(PkgConfig REQUIRED)
find_program(HOLDFAST_GFORTRAN gfortran)
mark_as_advanced(HOLDFAST_GFORTRAN)

function(holdfast_find_mpi flavour module soname package)
  pkg_check_modules(MPI_${flavour} QUIET ${module})
  find_program(HOLDFAST_MPI_${flavour}_CC mpicc.${flavour})
  find_program(HOLDFAST_MPI_${flavour}_CXX mpicxx.${flavour})
  find_program(HOLDFAST_MPI_${flavour}_FORTRAN mpifort.${flavour})  # needs gfortran; what is in Fortran is left out without
  find_library(HOLDFAST_MPI_${flavour}_LIBRARY NAMES ${soname} HINTS ${MPI_${flavour}_LIBRARY_DIRS})
  mark_as_advanced(HOLDFAST_MPI_${flavour}_CC HOLDFAST_MPI_${flavour}_CXX HOLDFAST_MPI_${flavour}_FORTRAN
                   HOLDFAST_MPI_${flavour}_LIBRARY)
  if(MPI_${flavour}_FOUND AND HOLDFAST_MPI_${flavour}_CC AND HOLDFAST_MPI_${flavour}_CXX
     AND HOLDFAST_MPI_${flavour}_LIBRARY)
    set(HOLDFAST_MPI_${flavour}_INCLUDE_DIRS ${MPI_${flavour}_INCLUDE_DIRS} CACHE INTERNAL "")
    set(HOLDFAST_MPI_FLAVOURS ${HOLDFAST_MPI_FLAVOURS} ${flavour} CACHE INTERNAL "The MPI libraries to build for")
  else()
    message(STATUS "looking for ${flavour}: not found, nothing is built for it: install ${package}")
  endif()
endfunction()

set(HOLDFAST_MPI_FLAVOURS "" CACHE INTERNAL "The MPI libraries to build for")
holdfast_find_mpi(openmpi ompi-c libmpi.so.40 "libopenmpi-dev openmpi-bin")
holdfast_find_mpi(mpich mpich libmpich.so.12 "libmpich-dev mpich")

# What MPI programs are compiled with besides: ThreadSanitizer must be in the program itself, for it begins before the
# constructors of MPI's libraries only from there; the other sanitizers' libraries are preloaded.
set(HOLDFAST_MPI_PROGRAM_FLAGS "" CACHE INTERNAL "")
if(HOLDFAST_SANITIZE STREQUAL "thread")
  set(HOLDFAST_MPI_PROGRAM_FLAGS -fsanitize=thread CACHE INTERNAL "")
endif()
