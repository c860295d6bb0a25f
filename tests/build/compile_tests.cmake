# Files that must compile, with both compilers, and files that must not.

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
