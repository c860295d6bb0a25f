# Builds the CMakeLists.txt and the main.cpp of docs/first-model.md in a project outside of redco's
# tree, with redco in the next folder and with an installed redco. Compilers must read the
# precompiled header: a compiler that cannot, or that ignores it, fails.
#   cmake -DROOT= -DBUILD= -DWORK= -DTORCH_ROOT= -DCOMPILERS="clang++;g++" -P first_model.cmake

file(REMOVE_RECURSE ${WORK})
file(READ ${ROOT}/docs/first-model.md page)
if(NOT page MATCHES "`first/CMakeLists.txt`:\n\n```cmake\n([^`]*)```")
  message(FATAL_ERROR "docs/first-model.md has no first/CMakeLists.txt")
endif()
set(project "${CMAKE_MATCH_1}")
string(REGEX REPLACE ".*\n```cpp\n(.*\n)```\n\n## 3.*" "\\1" program "${page}")
if(program STREQUAL page)
  message(FATAL_ERROR "docs/first-model.md has no first/main.cpp")
endif()
file(MAKE_DIRECTORY ${WORK})
file(CREATE_LINK ${ROOT} ${WORK}/redco SYMBOLIC)
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)

function(must what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${what} (${status}):\n${out}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()

string(REPLACE "add_subdirectory(../redco redco)" "find_package(redco 0.1 CONFIG REQUIRED)" project_installed "${project}")
if(project_installed STREQUAL project)
  message(FATAL_ERROR "the page does not add ../redco:\n${project}")
endif()
set(project_first "${project}")
foreach(way first installed)
  file(WRITE ${WORK}/${way}/CMakeLists.txt "${project_${way}}")
  file(CONFIGURE OUTPUT ${WORK}/${way}/main.cpp CONTENT "${program}" @ONLY)
  foreach(compiler IN LISTS COMPILERS)
    set(flags "")
    set(gnu OFF)
    if(compiler MATCHES "g[+][+]$" AND NOT compiler MATCHES "clang")
      set(flags "-Winvalid-pch -Werror=invalid-pch")
      set(gnu ON)
    endif()
    get_filename_component(name ${compiler} NAME)
    set(build ${WORK}/${way}/${name})
    # The library, where it is compiled here, is not optimised: that takes most of the time.
    must("${way} with ${compiler} does not configure" ${CMAKE_COMMAND} -G Ninja -S ${WORK}/${way} -B ${build}
      -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DNDEBUG" -DCMAKE_CXX_COMPILER=${compiler} "-DCMAKE_CXX_FLAGS=${flags}"
      -DCMAKE_PREFIX_PATH=${WORK}/prefix -DREDCO_TORCH_ROOT=${TORCH_ROOT})
    # g++ links the library that it compiles in the same build, clang++ links the installed library.
    # The other two combinations only compile the program.
    set(target CMakeFiles/first.dir/main.cpp.o)
    if((way STREQUAL "first" AND gnu) OR (way STREQUAL "installed" AND NOT gnu))
      set(target first)
    endif()
    must("${way} with ${compiler} does not build" ${CMAKE_COMMAND} --build ${build} --target ${target})
    if(target STREQUAL "first")
      foreach(shards 1 2)
        must("${way} with ${compiler} does not run" ${build}/first --epochs 3 --ranks 2 --n-model-shards ${shards}
          --workdir ${build}/run_${shards})
        if(NOT out MATCHES "right: [0-9.]+ of 100 points")
          message(FATAL_ERROR "${way} with ${compiler} does not predict:\n${out}")
        endif()
      endforeach()
    endif()
    file(REMOVE_RECURSE ${build})  # a precompiled header of g++ has 700 MB
  endforeach()
endforeach()
