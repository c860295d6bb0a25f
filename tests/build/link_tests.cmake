# Files that must link, and files that must not.

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
set(redco_include_flags ${redco_torch_includes})
list(TRANSFORM redco_include_flags PREPEND -isystem)
redco_long_test(mixed_macros COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DBUILD=${PROJECT_BINARY_DIR}
  -DWORK=${PROJECT_BINARY_DIR}/mixed_macros "-DCOMPILERS=${CMAKE_CXX_COMPILER};clang++;g++"
  "-DFLAGS=${redco_include_flags}" -P ${CMAKE_CURRENT_SOURCE_DIR}/odr/mixed.cmake)

# Optional libraries that CMake finds later.
redco_add_test(build.optional_packages COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DTORCH_ROOT=${redco_torch_found}
  -DCXX=${CMAKE_CXX_COMPILER} -DWORK=${PROJECT_BINARY_DIR}/optional_packages -P ${CMAKE_CURRENT_LIST_DIR}/optional_packages.cmake)

# Tokenizers in a build in which CMake found neither optional library. redco::plan would add them.
add_executable(without_text_libraries ${PROJECT_SOURCE_DIR}/tests/consume/without_text_libraries.cpp)
set_target_properties(without_text_libraries PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
target_include_directories(without_text_libraries PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_compile_features(without_text_libraries PRIVATE cxx_std_20)
target_link_libraries(without_text_libraries PRIVATE redco_flags redco::dependencies redco::utf8proc)
redco_add_test(build.without_text_libraries COMMAND without_text_libraries)
