# Tests of the sources and the build: floors, headers alone, static and reject tests, one definition
# rule, the second compiler, consumers.

set(redco_cmake ${PROJECT_SOURCE_DIR}/cmake)

redco_add_test(build.floors COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -P ${redco_cmake}/CheckFloors.cmake)
redco_add_test(build.floors_planted COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR}
  -DWORK=${PROJECT_BINARY_DIR}/floors_planted -P ${CMAKE_CURRENT_LIST_DIR}/floors_planted.cmake)
redco_add_test(build.codes COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -P ${redco_cmake}/CheckCodes.cmake)

redco_add_test(build.format COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -P ${redco_cmake}/CheckFormat.cmake)

# Rules for comments and promises of pages: docs/contributing.md.
redco_add_test(build.language COMMAND python3 -B ${CMAKE_CURRENT_LIST_DIR}/language.py ${PROJECT_SOURCE_DIR})
redco_add_test(build.language_planted COMMAND python3 -B ${CMAKE_CURRENT_LIST_DIR}/language.py ${PROJECT_SOURCE_DIR} --planted)
redco_add_test(build.pages COMMAND python3 -B ${CMAKE_CURRENT_LIST_DIR}/pages.py ${PROJECT_SOURCE_DIR})
redco_add_test(build.pictures COMMAND python3 -B ${PROJECT_SOURCE_DIR}/docs/pictures/make_pictures.py --check)

list(JOIN redco_built "\n" redco_list)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/built_tests.txt CONTENT "${redco_list}\n" @ONLY)
redco_add_test(build.tests_listed COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR}
  -DBUILT=${PROJECT_BINARY_DIR}/built_tests.txt -P ${redco_cmake}/CheckTests.cmake)

redco_add_test(build.setup COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DTORCH_ROOT=${redco_torch_found}
  -DWORK=${PROJECT_BINARY_DIR}/setup -P ${CMAKE_CURRENT_LIST_DIR}/setup.cmake)

# Each public header is included twice in a translation unit of its own, then its definitions in
# .inl.hpp, against declarations. Only the syntax is checked, by clang++ if it is available, because
# it reads a header several times faster than g++. The standard library, and libtorch for headers
# with tensors, are precompiled once. Text checks find missing includes of these (includes.py,
# CheckFloors.cmake).
redco_add_test(build.includes COMMAND python3 -B ${CMAKE_CURRENT_LIST_DIR}/includes.py ${PROJECT_SOURCE_DIR})
redco_add_test(build.includes_planted COMMAND python3 -B ${CMAKE_CURRENT_LIST_DIR}/includes.py ${PROJECT_SOURCE_DIR} --planted)
get_target_property(redco_torch_includes redco::torch INTERFACE_INCLUDE_DIRECTORIES)
find_program(REDCO_CLANG clang++)
mark_as_advanced(REDCO_CLANG)
set(redco_alone_compiler ${CMAKE_CXX_COMPILER})
if(REDCO_CLANG)
  set(redco_alone_compiler ${REDCO_CLANG})
endif()
set(redco_alone_flags -std=c++20 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -I${PROJECT_SOURCE_DIR}/include)

# redco_alone(TARGET [PCH FILE] FLAGS flags HEADERS headers)
function(redco_alone target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PCH" "FLAGS;HEADERS")
  # Definitions and private folders are checked by the headers that include them.
  list(FILTER arg_HEADERS EXCLUDE REGEX "[.]inl[.]hpp$|/include/redco/.*/(detail|composed|cpu|cuda)/")
  set(checked)
  foreach(header IN LISTS arg_HEADERS)
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR}/include ${header})
    set(unit ${PROJECT_BINARY_DIR}/alone/${name}.cpp)
    string(REGEX REPLACE "[.]hpp$" ".inl.hpp" definitions ${name})
    set(text "#define REDCO_COMPILED\n#include <${name}>\n#include <${name}>\n")
    if(EXISTS ${PROJECT_SOURCE_DIR}/include/${definitions})
      string(APPEND text "#include <${definitions}>\n")
    endif()
    file(CONFIGURE OUTPUT ${unit} CONTENT "${text}")
    add_custom_command(OUTPUT ${unit}.checked
      COMMAND ${redco_alone_compiler} ${redco_alone_flags} ${arg_FLAGS} -fsyntax-only -MMD -MF ${unit}.d -MT ${unit}.checked ${unit}
      COMMAND ${CMAKE_COMMAND} -E touch ${unit}.checked
      DEPENDS ${unit} ${arg_PCH} DEPFILE ${unit}.d JOB_POOL compile VERBATIM)
    list(APPEND checked ${unit}.checked)
  endforeach()
  add_custom_target(${target} ALL DEPENDS ${checked})
endfunction()

# redco_door(NAME TEXT flag...): makes a precompiled header of these includes; sets redco_NAME_pch
# and redco_NAME_flags.
function(redco_door name text)
  set(door ${PROJECT_BINARY_DIR}/alone/${name})
  file(CONFIGURE OUTPUT ${door}.hpp CONTENT "${text}")
  set(pch ${door}.hpp.gch)
  set(use -include ${door}.hpp)
  set(flags ${ARGN})
  if(REDCO_CLANG)
    set(pch ${door}.pch)
    set(use -include-pch ${pch})
    list(APPEND flags -Xclang -fpch-instantiate-templates)
  endif()
  add_custom_command(OUTPUT ${pch}
    COMMAND ${redco_alone_compiler} ${redco_alone_flags} ${flags} -x c++-header ${door}.hpp -o ${pch}
    DEPENDS ${PROJECT_SOURCE_DIR}/include/redco/tensor/torch.hpp ${redco_standard} ${redco_alone_compiler} ${door}.hpp
    JOB_POOL compile VERBATIM)
  set(redco_${name}_pch ${pch} PARENT_SCOPE)
  set(redco_${name}_flags ${flags} ${use} PARENT_SCOPE)
endfunction()

set(redco_standard ${CMAKE_CURRENT_LIST_DIR}/standard.hpp)
set(redco_read_once "#include \"${redco_standard}\"\n")
# Only one room includes each of them
foreach(header boost/hana/basic_tuple.hpp boost/hana/unpack.hpp nlohmann/json.hpp range/v3/range/traits.hpp)
  string(APPEND redco_read_once "#include <${header}>\n")
endforeach()
redco_door(standard "${redco_read_once}")
redco_alone(alone_plan PCH ${redco_standard_pch} FLAGS ${redco_standard_flags} HEADERS ${redco_plan_headers})

set(redco_torch_flags ${redco_torch_includes})
list(TRANSFORM redco_torch_flags PREPEND -isystem)
redco_door(torch "${redco_read_once}#include <redco/tensor/torch.hpp>\n" ${redco_torch_flags})
redco_alone(alone_torch PCH ${redco_torch_pch} FLAGS ${redco_torch_flags}
  HEADERS ${redco_torch_headers} ${redco_top_headers})

# static/<room>_<name>.cpp: compiled without torch for the rooms above the torch line.
list(JOIN REDCO_PLAN_ROOMS "|" redco_plan_regex)
set(redco_static_plan ${redco_static})
list(FILTER redco_static_plan INCLUDE REGEX "/static/(${redco_plan_regex})_[^/]*$")
set(redco_static_torch ${redco_static})
list(FILTER redco_static_torch EXCLUDE REGEX "/static/(${redco_plan_regex})_[^/]*$")
if(redco_static_plan)
  add_library(static_plan OBJECT ${redco_static_plan})
  target_link_libraries(static_plan PRIVATE redco_flags redco::plan)
  target_compile_options(static_plan PRIVATE -O0)
  target_precompile_headers(static_plan PRIVATE <redco/cost/fits.hpp> <redco/model/gpt2.hpp>)
endif()
if(redco_static_torch)
  add_library(static_torch OBJECT ${redco_static_torch})
  target_link_libraries(static_torch PRIVATE redco_flags redco::redco)
  target_precompile_headers(static_torch REUSE_FROM redco_torch_pch)
endif()

# Every header in header-only use: a program of two such units does not link if a function is not
# inline.
function(redco_umbrella file)
  set(headers ${ARGN})
  # Kernel sets are included by the operations that choose one
  list(FILTER headers EXCLUDE REGEX "/kernel/(composed|cpu|cuda)/")
  set(text "#pragma once\n\n")
  foreach(header IN LISTS headers)
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR}/include ${header})
    string(APPEND text "#include <${name}>\n")
  endforeach()
  file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY)
endfunction()
redco_umbrella(${PROJECT_BINARY_DIR}/umbrella/everything.hpp
  ${redco_plan_headers} ${redco_torch_headers} ${redco_top_headers})
redco_umbrella(${PROJECT_BINARY_DIR}/umbrella/plan_only.hpp ${redco_plan_headers})
add_library(odr OBJECT odr/everything.cpp)
target_include_directories(odr PRIVATE ${PROJECT_BINARY_DIR}/umbrella)
target_link_libraries(odr PRIVATE redco_test_flags redco::redco)
target_precompile_headers(odr REUSE_FROM redco_torch_test_pch)
redco_add_test(build.one_definition COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM} -DOBJECT=$<TARGET_OBJECTS:odr>
  -P ${CMAKE_CURRENT_LIST_DIR}/one_definition.cmake)

# Files with different macros, which must not link.
set(redco_macros)
foreach(option MPI PCRE2 SENTENCEPIECE)
  if(REDCO_${option}_INCLUDE AND REDCO_${option}_LIBRARY)
    list(APPEND redco_macros -DREDCO_WITH_${option})
  endif()
endforeach()
set(redco_include_flags ${redco_torch_includes})
list(TRANSFORM redco_include_flags PREPEND -isystem)
redco_add_test(build.mixed_macros COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DBUILD=${PROJECT_BINARY_DIR}
  -DWORK=${PROJECT_BINARY_DIR}/mixed_macros "-DCOMPILERS=${CMAKE_CXX_COMPILER};clang++;g++" "-DMACROS=${redco_macros}"
  "-DFLAGS=${redco_include_flags}" -P ${CMAKE_CURRENT_SOURCE_DIR}/odr/mixed.cmake)

# Tokenizers in a build in which CMake found neither optional library. redco::plan would add them.
add_executable(without_text_libraries ${PROJECT_SOURCE_DIR}/tests/consume/without_text_libraries.cpp)
set_target_properties(without_text_libraries PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
target_include_directories(without_text_libraries PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_compile_features(without_text_libraries PRIVATE cxx_std_20)
target_link_libraries(without_text_libraries PRIVATE redco_flags redco::dependencies redco::utf8proc)
redco_add_test(build.without_text_libraries COMMAND without_text_libraries)

# The second compiler checks every torch-free header, every static test and every example. One
# compiler, clang++, checks the benchmarks, which are built by hand.
file(GLOB redco_examples CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*.cpp)
file(GLOB redco_benchmarks CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/benchmarks/*.cpp)
set(redco_compile "-DINCLUDE=${PROJECT_SOURCE_DIR}/include" "-DTORCH=${redco_torch_includes}" -DCACHE=${PROJECT_BINARY_DIR}/pch)
set(redco_other_compiler clang++)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  set(redco_other_compiler g++)
endif()
redco_add_test(build.other_plan COMMAND ${CMAKE_COMMAND} ${redco_compile} -DCOMPILER=${redco_other_compiler}
  "-DFILES=${redco_static_plan}" -DUMBRELLA=${PROJECT_BINARY_DIR}/umbrella/plan_only.hpp -DWITH_TORCH=OFF
  -P ${redco_cmake}/CheckSyntax.cmake)
redco_add_test(build.other_torch COMMAND ${CMAKE_COMMAND} ${redco_compile} -DCOMPILER=${redco_other_compiler}
  "-DFILES=${redco_static_torch};${redco_examples}" -DWITH_TORCH=ON
  -P ${redco_cmake}/CheckSyntax.cmake)
redco_add_test(build.benchmarks COMMAND ${CMAKE_COMMAND} ${redco_compile} -DCOMPILER=clang++ "-DFILES=${redco_benchmarks}"
  -DWITH_TORCH=ON -P ${redco_cmake}/CheckSyntax.cmake)

# The C++ of README.md and docs/, extracted again when a page changes.
file(GLOB redco_pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/docs/*.md)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${redco_pages})
execute_process(COMMAND python3 -B ${CMAKE_CURRENT_LIST_DIR}/pages.py ${PROJECT_SOURCE_DIR} --write ${PROJECT_BINARY_DIR}/pages
  OUTPUT_VARIABLE redco_page_sources COMMAND_ERROR_IS_FATAL ANY)
string(STRIP "${redco_page_sources}" redco_page_sources)
string(REPLACE "\n" ";" redco_page_sources "${redco_page_sources}")
redco_add_test(build.page_code COMMAND ${CMAKE_COMMAND} ${redco_compile} -DCOMPILER=clang++ "-DFILES=${redco_page_sources}"
  -DWITH_TORCH=ON -P ${redco_cmake}/CheckSyntax.cmake)

# One mistake must cause one error also in a whole program that trains. These files are long tests,
# because each takes ten to twenty seconds with both compilers. Every code also has a shorter file,
# or one that always runs.
list(APPEND redco_long_names reject_programs)
foreach(source IN LISTS redco_rejects)
  get_filename_component(name ${source} NAME_WE)
  set(test reject.${name})
  if(name MATCHES "_trained" AND NOT name MATCHES "^P011_")
    if(NOT reject_programs IN_LIST REDCO_LONG_TESTS)
      continue()
    endif()
    set(test long.${test})
  endif()
  redco_add_test(${test} COMMAND ${CMAKE_COMMAND} ${redco_compile} -DFILE=${source}
    -P ${redco_cmake}/RejectTwin.cmake)
endforeach()
redco_add_test(build.reject_planted COMMAND ${CMAKE_COMMAND} ${redco_compile}
  -DWORK=${PROJECT_BINARY_DIR}/reject_planted -DTWIN=${redco_cmake}/RejectTwin.cmake
  -P ${CMAKE_CURRENT_LIST_DIR}/reject_planted.cmake)

# redco as a dependency: three ways of CMake, and pkg-config. Each builds and runs a program that
# trains one step.
foreach(way find_package add_subdirectory fetch_content pkg_config)
  set(compiler ${CMAKE_CXX_COMPILER})
  if(way STREQUAL pkg_config)
    set(compiler g++)
  endif()
  redco_add_test(consume.${way} COMMAND ${CMAKE_COMMAND} -DWAY=${way} -DROOT=${PROJECT_SOURCE_DIR}
    -DBUILD=${PROJECT_BINARY_DIR} -DWORK=${PROJECT_BINARY_DIR}/consume/${way} -DTORCH_ROOT=${redco_torch_found}
    -DCXX=${compiler} -P ${CMAKE_CURRENT_SOURCE_DIR}/consume/consume.cmake)
endforeach()

# The CMakeLists.txt of docs/first-model.md, with both compilers.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/first-model.md)
redco_long_test(first_model COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DBUILD=${PROJECT_BINARY_DIR}
  -DWORK=${PROJECT_BINARY_DIR}/consume/first_model -DTORCH_ROOT=${redco_torch_found} "-DCOMPILERS=clang++;g++"
  -P ${CMAKE_CURRENT_SOURCE_DIR}/consume/first_model.cmake)

# The fuzz targets, which clang++ builds, for some seconds each.
redco_long_test(fuzz COMMAND python3 -B ${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz.py ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/fuzz
  ${redco_torch_found})

redco_add_test(build.bench_compare COMMAND python3 -B ${CMAKE_CURRENT_LIST_DIR}/bench_compare.py ${PROJECT_SOURCE_DIR}/benchmarks)
redco_add_test(build.gpu_script COMMAND python3 -B ${CMAKE_CURRENT_LIST_DIR}/gpu_script.py ${PROJECT_SOURCE_DIR})
list(JOIN redco_long_names "\n" redco_list)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/long_tests.txt CONTENT "${redco_list}\n" @ONLY)
list(JOIN REDCO_TORCH_ROOMS " " redco_list)
list(JOIN redco_outside_only " " redco_list_outside)
redco_add_test(build.long_tests COMMAND python3 -B ${CMAKE_CURRENT_LIST_DIR}/long_tests.py ${PROJECT_SOURCE_DIR}
  ${PROJECT_BINARY_DIR}/long_tests.txt "${redco_list}" "${redco_list_outside}")
redco_add_test(build.mutants COMMAND ${PROJECT_SOURCE_DIR}/scripts/mutants --check)
redco_test_executable(planted_mistakes plan ${CMAKE_CURRENT_LIST_DIR}/planted_mistakes.cpp)
redco_add_test(build.mutants_planted COMMAND python3 -B ${CMAKE_CURRENT_LIST_DIR}/mutants.py ${PROJECT_SOURCE_DIR} $<TARGET_FILE:planted_mistakes>)
if(TARGET test_log)
  redco_add_test(build.skips COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DBUILD=${PROJECT_BINARY_DIR}
    -DWORK=${PROJECT_BINARY_DIR}/skips -P ${CMAKE_CURRENT_LIST_DIR}/skips.cmake)
endif()
redco_add_test(build.report_browser COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR}
  -DWORK=${PROJECT_BINARY_DIR}/report_browser -P ${CMAKE_CURRENT_LIST_DIR}/report_browser.cmake)
foreach(name consume.pkg_config build.format build.other_plan build.other_torch build.benchmarks build.page_code build.report_browser)
  set_tests_properties(${redco_prefix}${name} PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: ")
endforeach()

# The longest tests start first.
foreach(name consume.pkg_config build.other_torch build.other_plan)
  set_tests_properties(${redco_prefix}${name} PROPERTIES COST 100)
endforeach()

redco_add_test(build.shard_report COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DWORK=${PROJECT_BINARY_DIR}/shard_report
  -DTORCH_ROOT=${redco_torch_found} -DCXX=${CMAKE_CXX_COMPILER} -P ${CMAKE_CURRENT_LIST_DIR}/shard_report.cmake)

if(TARGET redco-calibrate)
  redco_add_test(build.calibrate_stopped COMMAND ${CMAKE_COMMAND} -DTOOL=$<TARGET_FILE:redco-calibrate>
    -DWORK=${PROJECT_BINARY_DIR}/calibrate_stopped -P ${CMAKE_CURRENT_LIST_DIR}/calibrate_stopped.cmake)
endif()
if(TARGET redco-plan)
  redco_add_test(build.plan_tool COMMAND ${CMAKE_COMMAND} -DTOOL=$<TARGET_FILE:redco-plan> -DWORK=${PROJECT_BINARY_DIR}/plan_tool
    -P ${CMAKE_CURRENT_LIST_DIR}/plan_tool.cmake)
endif()
