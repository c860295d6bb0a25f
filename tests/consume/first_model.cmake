# Builds the CMakeLists.txt of docs/first-model.md in a project outside of redco's tree, with redco
# in the next folder and with an installed redco. Compilers must read the precompiled header: a
# compiler that cannot, or that ignores it, fails.
#   cmake -DROOT= -DBUILD= -DWORK= -DTORCH_ROOT= -DCOMPILERS="clang++;g++" -P first_model.cmake

file(REMOVE_RECURSE ${WORK})
file(READ ${ROOT}/docs/first-model.md page)
if(NOT page MATCHES "`first/CMakeLists.txt`:\n\n```cmake\n([^`]*)```")
  message(FATAL_ERROR "docs/first-model.md has no first/CMakeLists.txt")
endif()
set(project "${CMAKE_MATCH_1}")
file(MAKE_DIRECTORY ${WORK})
file(CREATE_LINK ${ROOT} ${WORK}/redco SYMBOLIC)
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)

# demo.first_model builds the page's program. A smaller program suffices here.
string(REPLACE "add_subdirectory(../redco redco)" "find_package(redco 0.1 CONFIG REQUIRED)" project_installed "${project}")
if(project_installed STREQUAL project)
  message(FATAL_ERROR "the page does not add ../redco:\n${project}")
endif()
set(project_first "${project}")
foreach(way first installed)
  file(WRITE ${WORK}/${way}/CMakeLists.txt "${project_${way}}")
  file(WRITE ${WORK}/${way}/main.cpp "#include <redco/train.hpp>\nint main() { return redco::mesh{.dp = 2}.ranks() - 2; }\n")
  foreach(compiler IN LISTS COMPILERS)
    set(flags "")
    if(compiler MATCHES "g[+][+]$" AND NOT compiler MATCHES "clang")
      set(flags "-Winvalid-pch -Werror=invalid-pch")
    endif()
    get_filename_component(name ${compiler} NAME)
    set(build ${WORK}/${way}/${name})
    execute_process(COMMAND ${CMAKE_COMMAND} -G Ninja -S ${WORK}/${way} -B ${build} -DCMAKE_CXX_COMPILER=${compiler}
      -DCMAKE_CXX_FLAGS=${flags} -DCMAKE_PREFIX_PATH=${WORK}/prefix -DREDCO_TORCH_ROOT=${TORCH_ROOT}
      RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
    if(NOT status EQUAL 0)
      message(FATAL_ERROR "${way} with ${compiler} does not configure:\n${out}")
    endif()
    execute_process(COMMAND ${CMAKE_COMMAND} --build ${build} --target CMakeFiles/first.dir/main.cpp.o
      RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
    if(NOT status EQUAL 0)
      message(FATAL_ERROR "${way} with ${compiler} does not build:\n${out}")
    endif()
    file(REMOVE_RECURSE ${build})  # a precompiled header of g++ has 700 MB
  endforeach()
endforeach()
