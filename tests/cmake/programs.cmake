# Targets of test programs: flags, Catch2, precompiled headers.

find_package(Catch2 REQUIRED)
# Tests are compiled more often than they run. They are not optimised, unlike the library, except in
# rooms whose tests compute much.
add_library(redco_test_flags INTERFACE)
target_compile_options(redco_test_flags INTERFACE
  $<$<AND:$<CONFIG:Release>,$<NOT:$<BOOL:$<TARGET_PROPERTY:REDCO_BUSY>>>>:-O0>)
include(cmake/device_text.cmake)
target_include_directories(redco_test_flags INTERFACE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/support
  ${PROJECT_BINARY_DIR}/tests)
target_link_libraries(redco_test_flags INTERFACE redco_flags Catch2::Catch2)
if(Catch2_VERSION VERSION_LESS 3)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/pch/catch_main.cpp
    CONTENT "#define CATCH_CONFIG_MAIN\n#include <catch2/catch.hpp>\n")
  if(REDCO_CATCH_MAIN)
    add_library(redco_catch_main STATIC IMPORTED)
    set_target_properties(redco_catch_main PROPERTIES IMPORTED_LOCATION ${REDCO_CATCH_MAIN})
  else()
    add_library(redco_catch_main STATIC ${PROJECT_BINARY_DIR}/pch/catch_main.cpp)
    # The standard of the tests: it decides what Catch2 can print
    target_compile_features(redco_catch_main PRIVATE cxx_std_20)
    target_compile_options(redco_catch_main PRIVATE -O0)
    target_link_libraries(redco_catch_main PRIVATE redco_flags Catch2::Catch2)
  endif()
else()
  add_library(redco_catch_main INTERFACE)
  target_link_libraries(redco_catch_main INTERFACE Catch2::Catch2WithMain)
endif()

# Precompiled headers of tests above the torch line, of tests below it, and of whole programs.
redco_add_header(plan_test redco::plan_headers OFF ${CMAKE_CURRENT_SOURCE_DIR}/support/catch.hpp)
redco_add_header(torch_test redco::headers OFF ${CMAKE_CURRENT_SOURCE_DIR}/support/torch_catch.hpp)
redco_add_header(program_test redco::headers OFF ${CMAKE_CURRENT_SOURCE_DIR}/support/torch_catch.hpp <redco/train.hpp> <redco/pretrained.hpp>)
foreach(kind plan torch program)
  target_link_libraries(redco_${kind}_test_pch PRIVATE redco_test_flags)
endforeach()
target_compile_definitions(redco_program_test_pch PRIVATE REDCO_COMPILED)

# Adds a test program. `kind`: plan, torch or program.
function(redco_test_program target kind)
  add_executable(${target} ${ARGN})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_link_libraries(${target} PRIVATE redco_test_flags)
  if(kind STREQUAL plan)
    target_link_libraries(${target} PRIVATE redco::plan_compiled)
  else()
    target_link_libraries(${target} PRIVATE redco::compiled)
  endif()
  # The target has the flags of the library, so the precompiled header of the library fits.
  if(kind STREQUAL torch AND CMAKE_BUILD_TYPE STREQUAL Debug)
    target_precompile_headers(${target} REUSE_FROM redco_torch_pch)
  else()
    target_precompile_headers(${target} REUSE_FROM redco_${kind}_test_pch)
  endif()
endfunction()

# opaque.test.cpp includes torch::nn, which must come before Catch2. Neither the precompiled header
# nor another file of a unity build may come first.
set_source_files_properties(nn/opaque.test.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
# Includes a whole program
set_source_files_properties(nn/own_layer.test.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

# Adds an executable of Catch2 test cases.
function(redco_test_executable target kind)
  redco_test_program(${target} ${kind} ${ARGN})
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON)
  target_link_libraries(${target} PRIVATE redco_catch_main)
  if(kind STREQUAL plan)
    set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE 0)
  else()
    set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE 8)
  endif()
endfunction()
