# Finds each MPI on its own, because Holdfast builds for several in one tree and find_package(MPI) keeps one. Sets, for
# every flavour of HOLDFAST_MPI_FLAVOURS (openmpi, mpich): HOLDFAST_MPI_<flavour>_INCLUDE_DIRS, _CC, _CXX, _LIBRARY (the
# shared library that programs link) and _BINDINGS (that of the C++ bindings, where there are any); a flavour of which one of
# the others is missing is left out, with a message that says what to do.
include_guard(GLOBAL)
find_package(PkgConfig REQUIRED)
find_program(HOLDFAST_GFORTRAN gfortran)
mark_as_advanced(HOLDFAST_GFORTRAN)

function(holdfast_find_mpi flavour module soname bindings package)
  pkg_check_modules(MPI_${flavour} QUIET ${module})
  find_program(HOLDFAST_MPI_${flavour}_CC mpicc.${flavour})
  find_program(HOLDFAST_MPI_${flavour}_CXX mpicxx.${flavour})
  find_program(HOLDFAST_MPI_${flavour}_FORTRAN mpifort.${flavour})  # needs gfortran; what is in Fortran is left out without
  find_library(HOLDFAST_MPI_${flavour}_LIBRARY NAMES ${soname} HINTS ${MPI_${flavour}_LIBRARY_DIRS})
  # The C++ bindings of MPI 2: newer versions have none, and what is in them is left out.
  find_library(HOLDFAST_MPI_${flavour}_BINDINGS NAMES ${bindings} HINTS ${MPI_${flavour}_LIBRARY_DIRS})
  mark_as_advanced(HOLDFAST_MPI_${flavour}_CC HOLDFAST_MPI_${flavour}_CXX HOLDFAST_MPI_${flavour}_FORTRAN
                   HOLDFAST_MPI_${flavour}_LIBRARY HOLDFAST_MPI_${flavour}_BINDINGS)
  if(MPI_${flavour}_FOUND AND HOLDFAST_MPI_${flavour}_CC AND HOLDFAST_MPI_${flavour}_CXX
     AND HOLDFAST_MPI_${flavour}_LIBRARY)
    set(HOLDFAST_MPI_${flavour}_INCLUDE_DIRS ${MPI_${flavour}_INCLUDE_DIRS} CACHE INTERNAL "")
    set(HOLDFAST_MPI_FLAVOURS ${HOLDFAST_MPI_FLAVOURS} ${flavour} CACHE INTERNAL "The MPI libraries to build for")
  else()
    message(STATUS "looking for ${flavour}: not found, nothing is built for it: install ${package}")
  endif()
endfunction()

set(HOLDFAST_MPI_FLAVOURS "" CACHE INTERNAL "The MPI libraries to build for")
holdfast_find_mpi(openmpi ompi-c libmpi.so.40 mpi_cxx "libopenmpi-dev openmpi-bin")
holdfast_find_mpi(mpich mpich libmpich.so.12 mpichcxx "libmpich-dev mpich")

# What MPI programs are compiled with besides, and run in (as NAME=VALUE): a sanitizer must be in the program itself, as it
# begins before the constructors of MPI's libraries only from there, and the preloaded library finds it there.
set(HOLDFAST_MPI_PROGRAM_FLAGS "" CACHE INTERNAL "")
set(HOLDFAST_MPI_PROGRAM_ENVIRONMENT "" CACHE INTERNAL "")
if(HOLDFAST_SANITIZE STREQUAL "thread")
  set(HOLDFAST_MPI_PROGRAM_FLAGS -fsanitize=thread CACHE INTERNAL "")
  # MPI's libraries are not instrumented, so ThreadSanitizer does not see what orders their threads; and it does not
  # survive UCX's hooks of mmap and munmap.
  set(HOLDFAST_MPI_PROGRAM_ENVIRONMENT "TSAN_OPTIONS=ignore_noninstrumented_modules=1" "UCX_MEM_EVENTS=no"
      "OMPI_MCA_osc=^ucx" CACHE INTERNAL "")
elseif(HOLDFAST_SANITIZE STREQUAL "address,undefined")
  set(HOLDFAST_MPI_PROGRAM_FLAGS -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
      CACHE INTERNAL "")
  # AddressSanitizer's library comes behind the preloaded one; stacks go through MPI's libraries, which keep no frame
  # pointers, so that leaks of theirs are known by name. hwloc looks for no OpenCL devices: it would load the drivers, whose
  # leaks are nobody's here.
  set(HOLDFAST_MPI_PROGRAM_ENVIRONMENT "ASAN_OPTIONS=verify_asan_link_order=0:fast_unwind_on_malloc=0"
      "LSAN_OPTIONS=print_suppressions=0:suppressions=${CMAKE_SOURCE_DIR}/cmake/mpi_leaks.supp"
      "HWLOC_COMPONENTS=-opencl"
      CACHE INTERNAL "")
endif()
