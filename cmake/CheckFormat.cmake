# Checks that every source has the format of .clang-format, by clang-format 14. Other versions
# format some lines differently.
#   cmake -DROOT=DIR -P CheckFormat.cmake
# Prints every line with another format and fails if there is one. `clang-format -i FILE` corrects
# the file.

find_program(format NAMES clang-format-14 clang-format HINTS ${ROOT}/.deps/tests/bin)
set(version "")
if(format)
  execute_process(COMMAND ${format} --version OUTPUT_VARIABLE version)
endif()
if(NOT version MATCHES "version 14\\.")
  if("$ENV{CI}" STREQUAL "true")
    message(FATAL_ERROR "CI lacks what this test needs: clang-format 14 (found: '${version}'); run scripts/setup --tests")
  endif()
  message("skipped: no clang-format 14; run scripts/setup --tests")
  return()
endif()

set(sources)
foreach(folder include tests examples benchmarks tools)
  file(GLOB_RECURSE found ${ROOT}/${folder}/*.hpp ${ROOT}/${folder}/*.cpp)
  list(APPEND sources ${found})
endforeach()
execute_process(COMMAND ${format} --dry-run -Werror --style=file ${sources} RESULT_VARIABLE status ERROR_VARIABLE errors)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${errors}")
endif()
