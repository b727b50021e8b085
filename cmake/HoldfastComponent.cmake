# holdfast_component(NAME [COLD] [FOLDERS dir...] [WITHOUT source...] [LINK lib...] [TEST_LINK lib...] [DEFINITIONS def...])
#
# Builds the static library NAME from every *.cc of the current folder, or of the FOLDERS below it, and, beside it, the
# test program NAME-test from every *_test.cc. COLD: holdfast_cold(). WITHOUT: sources that are another library's
# (holdfast_part()). Nothing is registered by hand: a new file pair with its test is picked up
# at the next configure. Files named *_fuzz.cc become libFuzzer programs, files named *_bench.cc Google Benchmark ones.
function(holdfast_component name)
  cmake_parse_arguments(arg "COLD" "" "FOLDERS;WITHOUT;LINK;TEST_LINK;DEFINITIONS" ${ARGN})
  if(NOT arg_FOLDERS)
    set(arg_FOLDERS .)
  endif()
  set(sources)
  foreach(folder ${arg_FOLDERS})
    get_filename_component(folder ${folder} ABSOLUTE)
    file(GLOB found CONFIGURE_DEPENDS ${folder}/*.cc)
    list(APPEND sources ${found})
  endforeach()
  set(tests ${sources})
  set(fuzzers ${sources})
  set(benchmarks ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cc$")
  list(FILTER benchmarks INCLUDE REGEX "_bench\\.cc$")
  list(FILTER sources EXCLUDE REGEX "_(test|fuzz|bench)\\.cc$")
  list(TRANSFORM arg_WITHOUT PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  list(REMOVE_ITEM sources ${arg_WITHOUT})

  add_library(${name} STATIC ${sources})
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
  target_link_libraries(${name} PUBLIC ${arg_LINK})
  target_compile_definitions(${name} PUBLIC ${arg_DEFINITIONS})
  if(arg_COLD)
    holdfast_cold(${name})
  endif()
  holdfast_unity(${name})
  holdfast_warnings(${name})

  if(HOLDFAST_TESTS AND tests)
    add_executable(${name}-test ${tests})
    target_link_libraries(${name}-test PRIVATE ${name} ${arg_TEST_LINK} GTest::gmock GTest::gtest_main)
    holdfast_folders_for_tests(${tests})
    holdfast_cold_test(${name}-test)
    holdfast_unity(${name}-test)
    holdfast_warnings(${name}-test)
    gtest_discover_tests(${name}-test DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 300)
  endif()
  holdfast_fuzzers(${name} ${fuzzers})
  if(HOLDFAST_BENCHMARKS AND benchmarks)
    find_package(benchmark REQUIRED)
    foreach(source ${benchmarks})
      get_filename_component(stem ${source} NAME_WE)
      add_executable(${stem} ${source})
      target_link_libraries(${stem} PRIVATE ${name} ${arg_TEST_LINK} benchmark::benchmark)
      holdfast_warnings(${stem})
    endforeach()
  endif()
endfunction()

# holdfast_fuzzers(LIBRARY source...): each source is a libFuzzer program, in the fuzz preset. In every build with tests the
# corpus that fuzzing left of it is replayed: what once failed is tried again.
function(holdfast_fuzzers library)
  foreach(source ${ARGN})
    get_filename_component(stem ${source} NAME_WE)
    if(HOLDFAST_FUZZERS)
      add_executable(${stem} ${source})
      target_link_libraries(${stem} PRIVATE ${library})
      target_link_options(${stem} PRIVATE -fsanitize=fuzzer)
      holdfast_warnings(${stem})
    endif()
    if(HOLDFAST_TESTS AND IS_DIRECTORY ${CMAKE_SOURCE_DIR}/tests/corpora/${stem})
      add_executable(${stem}_replay ${source} ${CMAKE_SOURCE_DIR}/tests/corpora/replay.cc)
      target_link_libraries(${stem}_replay PRIVATE ${library})
      holdfast_cold_test(${stem}_replay)
      holdfast_warnings(${stem}_replay)
      add_test(NAME corpus.${stem} COMMAND ${stem}_replay ${CMAKE_SOURCE_DIR}/tests/corpora/${stem})
    endif()
  endforeach()
endfunction()

# holdfast_part(NAME SOURCES source... LINK lib...): sources of a component that `holdfast run` needs and the rest of it not,
# as a library of their own; their tests stay with the component.
function(holdfast_part name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
  target_link_libraries(${name} PUBLIC ${arg_LINK})
  holdfast_cold(${name})
  holdfast_warnings(${name})
endfunction()

# What runs a few times a job: releases are optimised for the compiler's time, a quarter less than with -O3.
function(holdfast_cold target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# The same for tests and what drives worlds, a third less. With -O1 GCC follows fewer paths, and warns of variables that
# others set.
function(holdfast_cold_test target)
  holdfast_cold(${target})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Wno-maybe-uninitialized>)
  endif()
endfunction()

# With HOLDFAST_UNITY the target's sources are compiled sixteen at a time: most of the time goes into reading the same
# headers and making the same templates again.
function(holdfast_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${HOLDFAST_UNITY} UNITY_BUILD_BATCH_SIZE 16)
endfunction()

# Sources that are compiled by themselves all the same, since a name of theirs in an unnamed namespace stands in another
# source of the target, too.
function(holdfast_compile_apart)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# Defines HOLDFAST_SOURCE_DIR and HOLDFAST_BINARY_DIR for those of the given tests that read them: a path in the command
# line of every test would make the compiler's cache miss in each checkout.
function(holdfast_folders_for_tests)
  foreach(test ${ARGN})
    file(STRINGS ${test} uses REGEX "HOLDFAST_(SOURCE|BINARY)_DIR" LIMIT_COUNT 1)
    if(uses)
      set_property(SOURCE ${test} APPEND PROPERTY COMPILE_DEFINITIONS HOLDFAST_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
                                                                      HOLDFAST_BINARY_DIR="${CMAKE_BINARY_DIR}")
    endif()
  endforeach()
endfunction()

# Warnings, and the sanitizers that the preset asks for.
function(holdfast_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wpedantic)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)  # GCC bug 105651: std::string +
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND HOLDFAST_UNITY)  # files of one batch are no scopes within each other
    target_compile_options(${target} PRIVATE -Wno-shadow -Wshadow=local $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
  endif()
  if(HOLDFAST_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(HOLDFAST_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${HOLDFAST_SANITIZE} -fno-omit-frame-pointer
                                             -fno-sanitize-recover=undefined)
    target_link_options(${target} PRIVATE -fsanitize=${HOLDFAST_SANITIZE})
    if(HOLDFAST_SANITIZE MATCHES "unsigned-integer-overflow")  # clang's; what wraps by intention stands in the list
      target_compile_options(${target} PRIVATE -fno-sanitize-recover=unsigned-integer-overflow
                                               -fsanitize-ignorelist=${CMAKE_SOURCE_DIR}/cmake/wraps_by_intention.ignorelist)
    endif()
  endif()
endfunction()
