# Files that must compile, with both compilers, and files that must not.

# static/<room>_<name>.cpp: compiled without torch for the rooms above the torch line.
list(JOIN REDCO_PLAN_ROOMS "|" redco_plan_regex)
set(redco_static_plan ${redco_static})
list(FILTER redco_static_plan INCLUDE REGEX "/static/(${redco_plan_regex})_[^/]*$")
set(redco_static_torch ${redco_static})
list(FILTER redco_static_torch EXCLUDE REGEX "/static/(${redco_plan_regex})_[^/]*$")
if(redco_static_plan)
  add_library(static_plan OBJECT ${redco_static_plan})
  target_link_libraries(static_plan PRIVATE redco_flags redco::plan_headers)
  target_compile_options(static_plan PRIVATE -O0)
  target_precompile_headers(static_plan PRIVATE <redco/cost/fits.hpp> <redco/model/gpt2.hpp>)
endif()
if(redco_static_torch)
  add_library(static_torch OBJECT ${redco_static_torch})
  target_link_libraries(static_torch PRIVATE redco_flags redco::headers)
  target_precompile_headers(static_torch REUSE_FROM redco_torch_pch)
endif()

# In long tests, the second compiler checks all headers, all static tests and all examples, and
# compiles a program that trains (pkg_config). One compiler, clang++, checks the benchmarks, which
# are built by hand.
file(GLOB redco_examples CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*.cpp)
file(GLOB redco_benchmarks CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/benchmarks/*.cpp)
set(redco_compile "-DINCLUDE=${PROJECT_SOURCE_DIR}/include" "-DTORCH=${redco_torch_includes}" -DCACHE=${PROJECT_BINARY_DIR}/pch)
set(redco_other_compiler clang++)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  set(redco_other_compiler g++)
endif()
redco_long_test(other_plan COMMAND ${CMAKE_COMMAND} ${redco_compile} -DCOMPILER=${redco_other_compiler}
  "-DFILES=${redco_static_plan}" -DUMBRELLA=${PROJECT_BINARY_DIR}/umbrella/plan_only.hpp -DWITH_TORCH=OFF
  -P ${redco_cmake}/CheckSyntax.cmake PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: ")
set(redco_always ${PROJECT_SOURCE_DIR}/examples/language_modeling.cpp)
list(REMOVE_ITEM redco_examples ${redco_always})
redco_long_test(other_torch COMMAND ${CMAKE_COMMAND} ${redco_compile} -DCOMPILER=${redco_other_compiler}
  "-DFILES=${redco_static_torch};${redco_always}" -DUMBRELLA=${PROJECT_BINARY_DIR}/umbrella/everything.hpp
  -DWITH_TORCH=ON -P ${redco_cmake}/CheckSyntax.cmake PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: ")
redco_long_test(other_examples COMMAND ${CMAKE_COMMAND} ${redco_compile} -DCOMPILER=${redco_other_compiler}
  "-DFILES=${redco_examples}" -DWITH_TORCH=ON -P ${redco_cmake}/CheckSyntax.cmake
  PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: ")
redco_long_test(benchmarks COMMAND ${CMAKE_COMMAND} ${redco_compile} -DCOMPILER=clang++ "-DFILES=${redco_benchmarks}"
  -DWITH_TORCH=ON -P ${redco_cmake}/CheckSyntax.cmake PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: ")

# The C++ of README.md and docs/, extracted again when a page changes.
file(GLOB redco_pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/docs/*.md)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${redco_pages})
execute_process(COMMAND python3 -B ${CMAKE_CURRENT_LIST_DIR}/pages.py ${PROJECT_SOURCE_DIR} --write ${PROJECT_BINARY_DIR}/pages
  OUTPUT_VARIABLE redco_page_sources COMMAND_ERROR_IS_FATAL ANY)
string(STRIP "${redco_page_sources}" redco_page_sources)
string(REPLACE "\n" ";" redco_page_sources "${redco_page_sources}")
redco_long_test(page_code COMMAND ${CMAKE_COMMAND} ${redco_compile} -DCOMPILER=clang++ "-DFILES=${redco_page_sources}"
  -DWITH_TORCH=ON -P ${redco_cmake}/CheckSyntax.cmake PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: ")

# One mistake must cause one error also in a whole program that trains. These files are long tests,
# because each takes ten to twenty seconds with both compilers. Every code also has a shorter file,
# or one that always runs. g++ takes twice as long as clang++ for files with libtorch, so it checks
# them in a long test of its own.
list(APPEND redco_long_names reject_programs reject_gcc)
foreach(source IN LISTS redco_rejects)
  get_filename_component(name ${source} NAME_WE)
  file(STRINGS ${source} torch LIMIT_COUNT 1 REGEX "^// torch$")
  set(check COMMAND ${CMAKE_COMMAND} ${redco_compile} -DFILE=${source})
  if(NOT torch)
    redco_add_test(reject.${name} ${check} -P ${redco_cmake}/RejectTwin.cmake)
    continue()
  endif()
  if(NOT name MATCHES "_trained" OR name MATCHES "^P011_")
    redco_add_test(reject.${name} ${check} -DCOMPILERS=clang++ -P ${redco_cmake}/RejectTwin.cmake)
  elseif(reject_programs IN_LIST REDCO_LONG_TESTS)
    redco_add_test(long.reject.${name} ${check} -DCOMPILERS=clang++ -P ${redco_cmake}/RejectTwin.cmake)
  endif()
  if(reject_gcc IN_LIST REDCO_LONG_TESTS)
    redco_add_test(long.reject_gcc.${name} ${check} -DCOMPILERS=g++ -P ${redco_cmake}/RejectTwin.cmake)
  endif()
endforeach()
redco_add_test(build.reject_planted COMMAND ${CMAKE_COMMAND} ${redco_compile}
  -DWORK=${PROJECT_BINARY_DIR}/reject_planted -DTWIN=${redco_cmake}/RejectTwin.cmake
  -P ${CMAKE_CURRENT_LIST_DIR}/reject_planted.cmake)
