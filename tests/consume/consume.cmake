# Builds and runs main.cpp in a project outside of redco's tree.
#   cmake -DWAY=find_package|add_subdirectory|fetch_content|pkg_config -DROOT= -DBUILD= -DWORK=
#     -DTORCH_ROOT= -DCXX= -P consume.cmake

include("${ROOT}/cmake/RunCommand.cmake")
include("${ROOT}/cmake/Skip.cmake")

# Runs the program, then runs it with an illegal mesh, which must end with one sentence and exit
# code 64.
function(check_program program illegal sentence)
  run(${program})
  execute_process(COMMAND ${program} --mesh ${illegal} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT status EQUAL 64 OR NOT out MATCHES "error: [^\n]*${sentence}")
    message(FATAL_ERROR "an illegal mesh ends with ${status}, not 64:\n${out}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
# Whole training is compiled header-only once (pkg_config) and linked with the installed libraries
# twice (find_package, pkg_config). add_subdirectory compiles a smaller program. fetch_content,
# which wraps add_subdirectory, compiles plans only.
set(program ${CMAKE_CURRENT_LIST_DIR}/main.cpp)
set(refusal 1x3 "legal widths are 1, 2, 4, 8")
find_program(CCACHE_PROGRAM ccache)
if(NOT CCACHE_PROGRAM)
  set(CCACHE_PROGRAM "")
endif()

if(WAY STREQUAL "pkg_config")
  find_program(PKG_CONFIG_PROGRAM NAMES pkg-config pkgconf)
  if(NOT PKG_CONFIG_PROGRAM)
    skip("no pkg-config (scripts/setup --tests)")
    return()
  endif()
endif()

if(WAY MATCHES "find_package|pkg_config")
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
endif()

if(WAY STREQUAL "pkg_config")
  set(packages redco redco-headers)
  set(compilers ${CXX} g++)
  file(GLOB_RECURSE pc ${WORK}/prefix/redco.pc)
  get_filename_component(folder ${pc} DIRECTORY)
  set(ENV{PKG_CONFIG_PATH} ${folder})
  # The compiler of the installed libraries links them. Another compiler takes the headers only.
  foreach(package compiler IN ZIP_LISTS packages compilers)
    execute_process(COMMAND ${PKG_CONFIG_PROGRAM} --define-variable=torch=${TORCH_ROOT} --cflags --libs ${package}
      OUTPUT_VARIABLE flags COMMAND_ERROR_IS_FATAL ANY)
    if(flags MATCHES "pcre2")
      string(APPEND flags " -DCONSUMER_HAS_PCRE2")
    endif()
    separate_arguments(flags UNIX_COMMAND "${flags}")
    run(${compiler} ${program} -o ${WORK}/consumer ${flags})
    check_program(${WORK}/consumer ${refusal})
  endforeach()
  return()
endif()

set(target redco::redco)
if(WAY STREQUAL "find_package")
  set(target redco::compiled)
  set(how "find_package(redco 0.1 CONFIG REQUIRED)")
elseif(WAY STREQUAL "add_subdirectory")
  set(how "add_subdirectory(${ROOT} redco)")
else()
  set(how "include(FetchContent)
FetchContent_Declare(redco SOURCE_DIR ${ROOT})
FetchContent_MakeAvailable(redco)")
endif()
if(NOT WAY STREQUAL "find_package")
  set(program ${CMAKE_CURRENT_LIST_DIR}/ranks.cpp)
  set(refusal two "DPxTP")
endif()
file(WRITE ${WORK}/include/app/model.hpp "#pragma once
#include <redco/layer/linear.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/model/model.hpp>
namespace app {
constexpr redco::model_of<redco::sequential<redco::linear<8, 16>, redco::relu, redco::linear<16, 8>>> model{};
}
")
file(WRITE ${WORK}/config.json [[{"model_type": "llama", "vocab_size": 96, "max_position_embeddings": 128, "hidden_size": 48,
 "intermediate_size": 80, "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 2, "rms_norm_eps": 1e-6,
 "hidden_act": "gelu", "tie_word_embeddings": true}]])
file(WRITE ${WORK}/small.cpp "#include <redco_models/small.hpp>
#include <redco/shard/legal.hpp>
#include <type_traits>
static_assert(std::is_same_v<decltype(small), redco::llama const>);
static_assert(small.config.tied && small.config.kv_heads == 2 && small.config.norm_epsilon == 1e-6 && small.config.mlp_bias == false);
static_assert(small.config.activation == redco::layers::activation_kind::gelu);
static_assert(redco::legal<small, redco::mesh{.tp = 4}>{});
int main() {}
")
# Files that link the compiled library see no macro of an optional library.
set(consumer "add_executable(consumer ${program})
target_link_libraries(consumer PRIVATE ${target})
if(REDCO_PCRE2_INCLUDE AND REDCO_PCRE2_LIBRARY)
  target_compile_definitions(consumer PRIVATE CONSUMER_HAS_PCRE2)
endif()")
if(WAY STREQUAL "fetch_content")
  set(consumer "")
endif()
file(WRITE ${WORK}/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES CXX)
${how}
${consumer}
redco_add_shard_report(NAME report MODEL app::model HEADER app/model.hpp MESHES 1x2 2x4 BATCH 8 BUDGET 1MiB FORMATS md json html)
add_executable(small small.cpp)
target_link_libraries(small PRIVATE redco::plan)
redco_add_model(TARGET small NAME small CONFIG config.json)
redco_add_shard_report(NAME small_report MODEL small HEADER redco_models/small.hpp MESHES 1x2 INCLUDES \${CMAKE_CURRENT_BINARY_DIR})
")
run(${CMAKE_COMMAND} -G Ninja -S ${WORK} -B ${WORK}/build -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_CXX_COMPILER_LAUNCHER=${CCACHE_PROGRAM}
  -DCMAKE_PREFIX_PATH=${WORK}/prefix -DREDCO_TORCH_ROOT=${TORCH_ROOT})
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/small)
if(consumer)
  check_program(${WORK}/build/consumer ${refusal})
endif()
if(WAY STREQUAL "find_package")
  file(GLOB_RECURSE compiled ${WORK}/build/libredco*.a ${WORK}/build/*redco_compiled/*.o)
  if(compiled)
    message(FATAL_ERROR "the installed libraries were not taken: ${compiled}")
  endif()
endif()
# If installed libraries were built with other optional libraries than this machine has, the project
# says so and compiles them itself. If they are installed after the project was configured, they do
# not link.
if(WAY STREQUAL "find_package")
  file(GLOB_RECURSE made_for ${WORK}/prefix/redco_compiled.txt)
  file(READ ${made_for} text)
  string(REGEX REPLACE ", with .*" ", with no optional library" other "${text}")
  file(WRITE ${made_for} "${other}")
  file(WRITE ${WORK}/parts/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)
project(parts LANGUAGES CXX)
${how}
add_executable(parts ${program})
target_link_libraries(parts PRIVATE redco::compiled)
")
  execute_process(COMMAND ${CMAKE_COMMAND} -G Ninja -S ${WORK}/parts -B ${WORK}/parts/build -DCMAKE_CXX_COMPILER=${CXX}
    -DCMAKE_PREFIX_PATH=${WORK}/prefix -DREDCO_TORCH_ROOT=${TORCH_ROOT} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  string(REGEX REPLACE "[ \n]+" " " out "${out}")
  file(STRINGS ${WORK}/parts/build/build.ninja compiles REGEX "^build .*redco_compiled/comm.cpp.o:")
  if(NOT status EQUAL 0 OR NOT compiles OR NOT out MATCHES "the installed libraries were built by .* with no optional library. This \
project has .*, with .*, so it compiles them itself. install redco again to share them")
    message(FATAL_ERROR "libraries with other parts are taken, or in silence (${status}, '${compiles}'):\n${out}")
  endif()
  file(WRITE ${made_for} "${text}")
  file(GLOB_RECURSE library ${WORK}/prefix/libredco_plan_core.a)
  run(ar d ${library} config.cpp.o)
  file(REMOVE ${WORK}/build/consumer)
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/build --target consumer RESULT_VARIABLE status OUTPUT_VARIABLE out
    ERROR_VARIABLE out)
  if(status EQUAL 0 OR NOT out MATCHES "redco::needs_redco_compiled::")
    message(FATAL_ERROR "a library with other parts links (${status}):\n${out}")
  endif()
endif()
foreach(file 1x2.md 1x2.json 1x2.html 2x4.md 2x4.json 2x4.html)
  if(NOT EXISTS ${WORK}/build/report_${file})
    message(FATAL_ERROR "the build wrote no report_${file}")
  endif()
endforeach()

# An unsupported config.json must stop the configuration of the project.
file(READ ${WORK}/config.json config)
string(REPLACE "num_hidden_layers" "num_hiden_layers" config "${config}")
file(WRITE ${WORK}/config.json "${config}")
execute_process(COMMAND ${CMAKE_COMMAND} ${WORK}/build RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
if(status EQUAL 0 OR NOT out MATCHES "redco_add_model\\(small\\).*num_hidden_layers" )
  message(FATAL_ERROR "a config.json without its layers is configured:\n${out}")
endif()
