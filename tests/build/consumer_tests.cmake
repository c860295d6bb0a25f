# redco as a dependency: three ways of CMake, and pkg-config. Each builds and runs a program that
# trains one step.
foreach(way find_package add_subdirectory fetch_content pkg_config)
  redco_long_test(${way} COMMAND ${CMAKE_COMMAND} -DWAY=${way} -DROOT=${PROJECT_SOURCE_DIR}
    -DBUILD=${PROJECT_BINARY_DIR} -DWORK=${PROJECT_BINARY_DIR}/consume/${way} -DTORCH_ROOT=${redco_torch_found}
    -DCXX=${CMAKE_CXX_COMPILER} -P ${CMAKE_CURRENT_SOURCE_DIR}/consume/consume.cmake PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: ")
endforeach()

# Files of an installation, with and without compiled libraries.
redco_add_test(build.installed COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DBUILD=${PROJECT_BINARY_DIR}
  -DWORK=${PROJECT_BINARY_DIR}/installed -DTORCH_ROOT=${redco_torch_found} -DCXX=${CMAKE_CXX_COMPILER}
  -P ${CMAKE_CURRENT_LIST_DIR}/installed.cmake)

# The CMakeLists.txt of docs/first-model.md, with both compilers.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/first-model.md)
redco_long_test(first_model COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DBUILD=${PROJECT_BINARY_DIR}
  -DWORK=${PROJECT_BINARY_DIR}/consume/first_model -DTORCH_ROOT=${redco_torch_found} "-DCOMPILERS=clang++;g++"
  -P ${CMAKE_CURRENT_SOURCE_DIR}/consume/first_model.cmake)

# The fuzz targets, which clang++ builds, for some seconds each.
redco_long_test(fuzz COMMAND python3 -B ${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz.py ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/fuzz
  ${redco_torch_found})
