# Installs a build with its compiled libraries, and a configured build without them.
#   cmake -DROOT= -DBUILD= -DWORK= -DTORCH_ROOT= -DCXX= -P installed.cmake

cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${WORK})

include("${ROOT}/cmake/RunCommand.cmake")

# find_installed(RESULT NAME): returns the path of the only installed file of this name.
function(find_installed result name)
  file(GLOB_RECURSE files ${prefix}/${name})
  list(LENGTH files count)
  if(NOT count EQUAL 1)
    message(FATAL_ERROR "${prefix} has ${count} files ${name}, not one: ${files}")
  endif()
  set(${result} ${files} PARENT_SCOPE)
endfunction()

# has(NAME words...): all words must occur in the installed file.
function(has name)
  find_installed(file ${name})
  file(READ ${file} text)
  foreach(words IN LISTS ARGN)
    if(NOT text MATCHES "${words}")
      message(FATAL_ERROR "no '${words}' in ${file}:\n${text}")
    endif()
  endforeach()
endfunction()

# lacks(NAME words): the words must not occur in the installed file.
function(lacks name words)
  find_installed(file ${name})
  file(READ ${file} text)
  if(text MATCHES "${words}")
    message(FATAL_ERROR "'${CMAKE_MATCH_0}' in ${file}:\n${text}")
  endif()
endfunction()

# With its libraries. All of them are in redco.pc, in an order in which linkers find all symbols.
set(prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
foreach(library compiled plan_compiled core plan_core)
  find_installed(file libredco_${library}.a)
endforeach()
has(redco_compiled.txt "libtorch [0-9.]+, with ")
has(redco.pc "-DREDCO_COMPILED" "-lredco_compiled -lredco_plan_compiled -lredco_core -lredco_plan_core ")
lacks(redco.pc "REDCO_WITH_")
lacks(redco-headers.pc "redco_core|REDCO_COMPILED")

# Nothing refers to the source tree, so a user may delete the tree.
file(GLOB_RECURSE installed ${prefix}/*.cmake ${prefix}/*.pc ${prefix}/*.txt)
foreach(file IN LISTS installed)
  file(STRINGS ${file} lines)
  foreach(line IN LISTS lines)
    string(FIND "${line}" "${ROOT}/" at)
    if(NOT at EQUAL -1)
      message(FATAL_ERROR "${file} refers to the source tree:\n${line}")
    endif()
  endforeach()
endforeach()

# Installed programs search libraries neither in the source tree nor in a folder of the build.
file(GLOB programs ${prefix}/bin/*)
foreach(program IN LISTS programs)
  run(readelf -d ${program})
  string(REGEX MATCH "path: .[^\n]*" paths "${out}")
  if(paths MATCHES "${ROOT}/|${BUILD}/" OR (program MATCHES "redco-calibrate$" AND NOT paths MATCHES "path: .[$/]"))
    message(FATAL_ERROR "${program} has the search path '${paths}'")
  endif()
endforeach()

# A project finds the libtorch to which the user links. The libraries fit if its version does,
# wherever it is.
find_installed(file redco_compiled.txt)
cmake_path(GET file PARENT_PATH folder)
file(CREATE_LINK ${TORCH_ROOT} ${folder}/torch SYMBOLIC)
file(WRITE ${WORK}/consumer/empty.cpp "")
file(WRITE ${WORK}/consumer/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES CXX)
find_package(redco 0.1 CONFIG REQUIRED)
add_executable(consumer empty.cpp)
target_link_libraries(consumer PRIVATE redco::compiled)
")
run(${CMAKE_COMMAND} -E env --unset=REDCO_TORCH_ROOT ${CMAKE_COMMAND} -G Ninja -S ${WORK}/consumer -B ${WORK}/consumer/build
  -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_PREFIX_PATH=${prefix})
file(STRINGS ${WORK}/consumer/build/build.ninja compiles REGEX "redco_compiled/comm.cpp")
string(FIND "${out}" "in ${folder}/torch" at)
if(compiles OR at EQUAL -1)
  message(FATAL_ERROR "the installed libraries or ${folder}/torch are not taken:\n${out}")
endif()

# Without libraries the installation says so, and redco.pc is header-only. To build the target that
# the message names makes all of them.
set(fresh ${WORK}/fresh)
run(${CMAKE_COMMAND} -G Ninja -S ${ROOT} -B ${fresh} -DCMAKE_CXX_COMPILER=${CXX} -DREDCO_TORCH_ROOT=${TORCH_ROOT} -DREDCO_TESTS=OFF
  -DREDCO_EXAMPLES=OFF -DREDCO_BENCHMARKS=OFF -DREDCO_TOOLS=OFF)
set(prefix ${WORK}/prefix_of_fresh)
run(${CMAKE_COMMAND} --install ${fresh} --prefix ${prefix})
if(NOT out MATCHES "without its compiled libraries.*build the target redco_compiled")
  message(FATAL_ERROR "an installation without libraries does not say so:\n${out}")
endif()
lacks(redco.pc "redco_core|REDCO_COMPILED")
run(${CMAKE_COMMAND} --build ${fresh} -- -t commands redco_compiled)
foreach(library compiled plan_compiled core plan_core)
  if(NOT out MATCHES "qc libredco_${library}[.]a")
    message(FATAL_ERROR "the target redco_compiled does not build libredco_${library}.a:\n${out}")
  endif()
endforeach()
