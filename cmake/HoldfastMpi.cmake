# Finds each MPI on its own, because Holdfast builds for several in one tree and find_package(MPI) keeps one. Sets, for
# every flavour of HOLDFAST_MPI_FLAVOURS (openmpi, mpich): HOLDFAST_MPI_<flavour>_INCLUDE_DIRS, _CC, _CXX, _LIBRARY (the
# shared library that programs link) and _BINDINGS (that of the C++ bindings, where there are any); a flavour of which one of
# the others is missing is left out, with a message that says what to do.
#
# Where they are looked for: the compiler wrapper HOLDFAST_MPICC (by default the CC that cmake was started with, where that is
# one, otherwise the mpicc in PATH: a module's, Spack's, a vendor's) says which flavour it is and where it lies; for the other
# flavour, and without a wrapper, Debian's names.
include_guard(GLOBAL)
find_package(PkgConfig REQUIRED)
find_program(HOLDFAST_GFORTRAN gfortran)
find_program(HOLDFAST_MPICC NAMES mpicc DOC "The compiler wrapper of an MPI in a prefix of its own")
find_program(HOLDFAST_MPI_ABI_MPICC NAMES mpicc_abi DOC "The compiler wrapper for the standard's interface of an MPI")
mark_as_advanced(HOLDFAST_GFORTRAN)

# Sets <result>_INCLUDE_DIRS and _LIBRARY_DIRS, those that are there, from what a wrapper says that it would do (-show of
# MPICH, --showme of Open MPI) and from its place; no mpi.h is found in them where it says nothing.
function(holdfast_ask_folders wrapper result)
  execute_process(COMMAND ${wrapper} -show OUTPUT_VARIABLE said RESULT_VARIABLE status ERROR_VARIABLE error)
  separate_arguments(words UNIX_COMMAND "${said}")
  set(includes)
  set(libraries)
  foreach(word ${words})
    if(word MATCHES "^-I(.+)")
      list(APPEND includes ${CMAKE_MATCH_1})
    elseif(word MATCHES "^-L(.+)")
      list(APPEND libraries ${CMAKE_MATCH_1})
    endif()
  endforeach()
  get_filename_component(real ${wrapper} REALPATH)
  get_filename_component(prefix ${real} DIRECTORY)
  get_filename_component(prefix ${prefix} DIRECTORY)
  list(APPEND includes ${prefix}/include)
  list(APPEND libraries ${prefix}/lib ${prefix}/lib64)
  # Those that are not there are of no use, and CMake complains of them.
  foreach(list includes libraries)
    foreach(folder ${${list}})
      if(NOT IS_DIRECTORY ${folder})
        list(REMOVE_ITEM ${list} ${folder})
      endif()
    endforeach()
    list(REMOVE_DUPLICATES ${list})
  endforeach()
  set(${result}_STATUS ${status} PARENT_SCOPE)
  set(${result}_INCLUDE_DIRS ${includes} PARENT_SCOPE)
  set(${result}_LIBRARY_DIRS ${libraries} PARENT_SCOPE)
endfunction()

# Sets <result>_FLAVOUR (empty: Debian's own, found by name, or no wrapper), _INCLUDE_DIRS and _LIBRARY_DIRS from what a
# wrapper says that it would do.
function(holdfast_ask_wrapper wrapper result)
  set(${result}_FLAVOUR "" PARENT_SCOPE)
  if(NOT wrapper)
    return()
  endif()
  get_filename_component(real ${wrapper} REALPATH)
  if(real MATCHES "^/usr/bin/")
    return()
  endif()
  holdfast_ask_folders(${wrapper} asked)
  find_path(header mpi.h PATHS ${asked_INCLUDE_DIRS} NO_DEFAULT_PATH NO_CACHE)
  set(flavour)
  if(header)
    file(STRINGS ${header}/mpi.h names REGEX "define (OPEN_MPI|MPICH_VERSION|I_MPI_VERSION|MVAPICH2?_VERSION)")
    if(names MATCHES "OPEN_MPI")
      set(flavour openmpi)
    elseif(names)
      set(flavour mpich)
    endif()
  endif()
  if(NOT asked_STATUS EQUAL 0 OR NOT flavour)
    message(STATUS "looking at ${wrapper}: it is left out: '${wrapper} -show' names no mpi.h of Open MPI or MPICH")
    return()
  endif()
  set(${result}_FLAVOUR ${flavour} PARENT_SCOPE)
  set(${result}_INCLUDE_DIRS ${asked_INCLUDE_DIRS} PARENT_SCOPE)
  set(${result}_LIBRARY_DIRS ${asked_LIBRARY_DIRS} PARENT_SCOPE)
endfunction()

# An MPI that was built without Fortran has the wrapper all the same, but no modules: what is in Fortran is left out then.
function(holdfast_check_fortran flavour)
  if(NOT HOLDFAST_MPI_${flavour}_FORTRAN)
    return()
  endif()
  set(folder ${CMAKE_BINARY_DIR}/CMakeFiles/holdfast-fortran-${flavour})
  file(WRITE ${folder}/module.f90 "program module\n  use mpi_f08\nend program\n")
  execute_process(COMMAND ${HOLDFAST_MPI_${flavour}_FORTRAN} -c module.f90 WORKING_DIRECTORY ${folder} RESULT_VARIABLE failed
                  OUTPUT_QUIET ERROR_QUIET)
  if(failed)
    message(STATUS "looking at ${HOLDFAST_MPI_${flavour}_FORTRAN}: it has no mpi_f08, what is in Fortran is left out")
    set(HOLDFAST_MPI_${flavour}_FORTRAN HOLDFAST_MPI_${flavour}_FORTRAN-NOTFOUND CACHE FILEPATH "" FORCE)
  endif()
endfunction()

function(holdfast_find_mpi flavour module sonames bindings package)
  if(wrapper_FLAVOUR STREQUAL flavour)
    get_filename_component(folder ${HOLDFAST_MPICC} DIRECTORY)
    set(MPI_${flavour}_FOUND TRUE)
    set(MPI_${flavour}_INCLUDE_DIRS ${wrapper_INCLUDE_DIRS})
    set(compilers mpicc mpicxx mpic++ mpifort)
    set(folders PATHS ${folder} NO_DEFAULT_PATH)
    set(places PATHS ${wrapper_LIBRARY_DIRS} NO_DEFAULT_PATH)
    message(STATUS "Building for the ${flavour} of ${HOLDFAST_MPICC}")
  else()
    pkg_check_modules(MPI_${flavour} QUIET ${module})
    set(compilers mpicc.${flavour} mpicxx.${flavour} mpic++.${flavour} mpifort.${flavour})
    set(folders)
    set(places HINTS ${MPI_${flavour}_LIBRARY_DIRS})
  endif()
  list(POP_FRONT compilers cc)
  list(POP_BACK compilers fortran)
  find_program(HOLDFAST_MPI_${flavour}_CC NAMES ${cc} ${folders})
  find_program(HOLDFAST_MPI_${flavour}_CXX NAMES ${compilers} ${folders})
  find_program(HOLDFAST_MPI_${flavour}_FORTRAN NAMES ${fortran} ${folders})  # needs gfortran; what is in Fortran is left out without
  holdfast_check_fortran(${flavour})
  find_library(HOLDFAST_MPI_${flavour}_LIBRARY NAMES ${sonames} ${places})
  # The C++ bindings of MPI 2: newer versions have none, and what is in them is left out.
  find_library(HOLDFAST_MPI_${flavour}_BINDINGS NAMES ${bindings} ${places})
  mark_as_advanced(HOLDFAST_MPI_${flavour}_CC HOLDFAST_MPI_${flavour}_CXX HOLDFAST_MPI_${flavour}_FORTRAN
                   HOLDFAST_MPI_${flavour}_LIBRARY HOLDFAST_MPI_${flavour}_BINDINGS)
  if(MPI_${flavour}_FOUND AND HOLDFAST_MPI_${flavour}_CC AND HOLDFAST_MPI_${flavour}_CXX
     AND HOLDFAST_MPI_${flavour}_LIBRARY)
    set(HOLDFAST_MPI_${flavour}_INCLUDE_DIRS ${MPI_${flavour}_INCLUDE_DIRS} CACHE INTERNAL "")
    set(HOLDFAST_MPI_FLAVOURS ${HOLDFAST_MPI_FLAVOURS} ${flavour} CACHE INTERNAL "The MPI libraries to build for")
  else()
    message(STATUS "looking for ${flavour}: not found, nothing is built for it: install ${package}, or put its mpicc in PATH")
  endif()
endfunction()

# The standard's own interface (MPI 5.0, chapter 21), of whichever MPI: HOLDFAST_MPI_abi_CC, _INCLUDE_DIRS and _LIBRARY where
# they are there. It is none of HOLDFAST_MPI_FLAVOURS, as it has neither Fortran nor C++, and a launcher of either MPI.
function(holdfast_find_standard_mpi)
  unset(HOLDFAST_MPI_abi_INCLUDE_DIRS CACHE)
  if(NOT HOLDFAST_MPI_ABI_MPICC)
    message(STATUS "looking for the standard's interface of MPI: no mpicc_abi in PATH, nothing is built for it")
    return()
  endif()
  holdfast_ask_folders(${HOLDFAST_MPI_ABI_MPICC} asked)
  find_path(header mpi.h PATHS ${asked_INCLUDE_DIRS} NO_DEFAULT_PATH NO_CACHE)
  set(names)
  if(header)
    file(STRINGS ${header}/mpi.h names REGEX "define (MPI_ABI_VERSION +[1-9]|OPEN_MPI|MPICH_VERSION)")
  endif()
  find_library(HOLDFAST_MPI_abi_LIBRARY NAMES libmpi_abi.so.1 mpi_abi PATHS ${asked_LIBRARY_DIRS} NO_DEFAULT_PATH)
  get_filename_component(folder ${HOLDFAST_MPI_ABI_MPICC} DIRECTORY)
  find_program(HOLDFAST_MPI_abi_CXX NAMES mpicxx_abi mpic++_abi PATHS ${folder} NO_DEFAULT_PATH)  # C++ is left out without
  mark_as_advanced(HOLDFAST_MPI_ABI_MPICC HOLDFAST_MPI_abi_LIBRARY HOLDFAST_MPI_abi_CXX)
  if(NOT names MATCHES "MPI_ABI_VERSION" OR names MATCHES "OPEN_MPI|MPICH_VERSION" OR NOT HOLDFAST_MPI_abi_LIBRARY)
    message(STATUS "looking at ${HOLDFAST_MPI_ABI_MPICC}: it is left out: '${HOLDFAST_MPI_ABI_MPICC} -show' names no mpi.h and "
                   "libmpi_abi.so of the standard's interface")
    return()
  endif()
  message(STATUS "Building for the standard's interface of MPI, by ${HOLDFAST_MPI_ABI_MPICC}")
  set(HOLDFAST_MPI_abi_CC ${HOLDFAST_MPI_ABI_MPICC} CACHE INTERNAL "")
  set(HOLDFAST_MPI_abi_INCLUDE_DIRS ${header} CACHE INTERNAL "")
endfunction()

set(HOLDFAST_MPI_FLAVOURS "" CACHE INTERNAL "The MPI libraries to build for")
holdfast_find_standard_mpi()
holdfast_ask_wrapper("${HOLDFAST_MPICC}" wrapper)
holdfast_find_mpi(openmpi ompi-c libmpi.so.40 mpi_cxx "libopenmpi-dev openmpi-bin")
holdfast_find_mpi(mpich mpich "libmpich.so.12;libmpi.so.12" mpichcxx "libmpich-dev mpich")

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
