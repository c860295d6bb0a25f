# Checks redco_add_shard_report: its files, builds that it must fail, and its errors for bad
# arguments.
#   cmake -DROOT=DIR -DWORK=DIR -DTORCH_ROOT=DIR -DCXX=FILE -P shard_report.cmake

cmake_minimum_required(VERSION 3.25)

# Bad arguments are refused before a target is made, so they can be tested by a script.
if(CHECKED_CALL)
  include("${ROOT}/cmake/RedcoShardReport.cmake")
  redco_add_shard_report(${CHECKED_CALL})
  return()
endif()

file(REMOVE_RECURSE "${WORK}")
file(WRITE "${WORK}/app/model.hpp" "#pragma once
#include <redco/model/gpt2.hpp>
namespace app {
constexpr redco::gpt2 model{{.vocab = 256, .context = 256, .width = 384, .heads = 6, .layers = 6}};
}
")

function(expect_refusal sentence)
  execute_process(COMMAND ${CMAKE_COMMAND} -DROOT=${ROOT} "-DCHECKED_CALL=${ARGN}" -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
    WORKING_DIRECTORY ${WORK} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  string(REGEX REPLACE "[ \n]+" " " out "${out}")
  if(status EQUAL 0 OR NOT out MATCHES "${sentence}")
    message(FATAL_ERROR "redco_add_shard_report(${ARGN}): expected '${sentence}', got (${status}):\n${out}")
  endif()
endfunction()

set(good NAME r MODEL app::model HEADER app/model.hpp MESHES 1x2)
expect_refusal("BUDGET 10 has no unit. write 10GiB, or KiB, MiB or TiB" ${good} BUDGET 10)
expect_refusal("BUDGET '10GB' is not a number of bytes. write a whole number .* such as 10GiB" ${good} BUDGET 10GB)
expect_refusal("BUDGET '0GiB' is not a number of bytes" ${good} BUDGET 0GiB)
expect_refusal("FORMATS 'pdf' is unknown. use one of txt, md, json, html" ${good} FORMATS md pdf)
expect_refusal("'0x2' in MESHES is not a mesh. write DPxTP" NAME r MODEL app::model HEADER app/model.hpp MESHES 1x2 0x2)
expect_refusal("'4' in MESHES is not a mesh" NAME r MODEL app::model HEADER app/model.hpp MESHES 4)
expect_refusal("OPTIMIZER 'lion' is unknown. use one of adamw, adam, sgd" ${good} OPTIMIZER lion)
expect_refusal("DTYPE 'f8' is unknown. use one of f32, bf16, f64" ${good} DTYPE f8)
expect_refusal("MODEL is missing. write MODEL app::model" NAME r HEADER app/model.hpp MESHES 1x2)
expect_refusal("HEADER is missing. write HEADER app/model.hpp" NAME r MODEL app::model MESHES 1x2)
expect_refusal("MESHES is missing" NAME r MODEL app::model HEADER app/model.hpp)
expect_refusal("NAME is missing" MODEL app::model HEADER app/model.hpp MESHES 1x2)
expect_refusal("BATCH has no value. write one after it" ${good} BATCH SEQUENCE 3)
expect_refusal("SEQUENCE '-1' is not a size" ${good} SEQUENCE -1)
expect_refusal("SOURCE '0' is not a size" ${good} SOURCE 0)
expect_refusal("MACHINE .*/no.json does not exist. measure the machine: redco-plan --calibrate --machine" ${good} MACHINE no.json)
expect_refusal("RECOMPUTE 'second' names no blocks. write RECOMPUTE alone, every:2" ${good} RECOMPUTE second)
expect_refusal("RECOMPUTE 'range:8:4' names no blocks" ${good} RECOMPUTE range:8:4)
expect_refusal("unknown argument 'BUGDET 3GiB'" BUGDET 3GiB NAME r MODEL m HEADER app/model.hpp MESHES 1x1)
expect_refusal("HEADER app/no.hpp is neither in .* name its folder with INCLUDES" NAME r MODEL m HEADER app/no.hpp MESHES 1x1)

file(WRITE "${WORK}/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)
project(app LANGUAGES CXX)
add_subdirectory(${ROOT} redco)
redco_add_shard_report(NAME good MODEL app::model HEADER app/model.hpp MESHES 1x2 2x3 BATCH 16 SEQUENCE 256 BUDGET 1GiB
  FORMATS txt md json html OUTPUT reports)
redco_add_shard_report(NAME large MODEL app::model HEADER app/model.hpp MESHES 1x1 BATCH 16 SEQUENCE 256 BUDGET 200MiB)
redco_add_shard_report(NAME several MODEL app::model HEADER app/model.hpp MESHES 4x1 BATCH 16 SEQUENCE 64 BUDGET 150MiB)
redco_add_shard_report(NAME followed MODEL app::model HEADER app/model.hpp MESHES 2x2 BATCH 16 SEQUENCE 64 BUDGET 150MiB)
redco_add_shard_report(NAME cut MODEL app::model HEADER app/model.hpp MESHES 1x2 1x4 OPTIMIZER sgd DTYPE bf16 RECOMPUTE)
redco_add_shard_report(NAME alone MODEL app::model HEADER app/model.hpp MESHES 1x1 SOURCE 9)
")
execute_process(COMMAND ${CMAKE_COMMAND} -G Ninja -S ${WORK} -B ${WORK}/build -DCMAKE_CXX_COMPILER=${CXX}
  -DCMAKE_CXX_FLAGS=-O0 -DREDCO_TORCH_ROOT=${TORCH_ROOT} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "configuring fails:\n${out}")
endif()

function(build target expected)
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/build --target ${target}
    RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(expected STREQUAL "" AND NOT status EQUAL 0)
    message(FATAL_ERROR "${target} fails:\n${out}")
  elseif(NOT expected STREQUAL "" AND (status EQUAL 0 OR NOT out MATCHES "${expected}"))
    message(FATAL_ERROR "${target}: expected '${expected}' and a failure, got (${status}):\n${out}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()

build(good "")
foreach(mesh 1x2 2x3)
  foreach(format txt md json html)
    if(NOT EXISTS ${WORK}/build/reports/good_${mesh}.${format})
      message(FATAL_ERROR "reports/good_${mesh}.${format} was not written")
    endif()
  endforeach()
endforeach()
file(READ ${WORK}/build/reports/good_2x3.json report)
string(JSON batch GET "${report}" run batch)
string(JSON budget GET "${report}" budget_bytes)
if(NOT batch EQUAL 8 OR NOT budget EQUAL 1073741824)
  message(FATAL_ERROR "two replicas share 16 examples and 1GiB is 2^30 bytes, not ${batch} and ${budget}")
endif()
build(large "large: mesh 1x1: does not fit, .* budget of 200 MiB\n  largest: activations .*, optimizer state .*\n  \
smallest change that fits: 6 model shards and bf16")
# The suggestion is another mesh with equally many ranks, and this mesh must have the promised
# bytes.
build(several "mesh 4x1: does not fit, .*\n  smallest change that fits: 2 model shards on the same 4 ranks .MESHES 2x2., [0-9]+ MiB on every rank")
string(REGEX MATCH "MESHES 2x2., ([0-9]+ MiB) on every" promised "${out}")
set(promised "${CMAKE_MATCH_1}")
build(followed "")
file(READ ${WORK}/build/followed_2x2.md report)
if(NOT report MATCHES "- mesh 2x2: fits, ${promised} of 150 MiB on every rank\n")
  message(FATAL_ERROR "the suggested mesh does not hold ${promised}:\n${report}")
endif()
build(cut "cut: mesh 1x4: h...attn.q.weight has 6 units, which 4 model shards do not divide; legal widths are 1, 2, 3, 6: choose one \
in MESHES")
build(alone "alone: SOURCE has no meaning for a model without an encoder")
