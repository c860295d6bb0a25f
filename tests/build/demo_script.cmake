# Checks the options that scripts/demo passes to its program. It runs in a copy whose setup, cmake
# and program are stubs.
#   cmake -DROOT=DIR -DWORK=DIR -P demo_script.cmake

cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${WORK})
set(all PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
file(COPY ${ROOT}/scripts/demo DESTINATION ${WORK}/scripts)
file(WRITE ${WORK}/scripts/setup "#!/bin/sh\n")
file(WRITE ${WORK}/stubs/cmake "#!/bin/sh\necho $* >> ${WORK}/cmake_calls\n")
file(WRITE ${WORK}/build/release/examples/language_modeling "#!/bin/sh\necho \"$* | $REDCO_COMMAND\"\n")
file(CHMOD ${WORK}/scripts/setup ${WORK}/stubs/cmake ${WORK}/build/release/examples/language_modeling ${all})

# passes(EXPECTED argument...): runs the demo with the arguments and compares those of the program.
function(passes expected)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env PATH=${WORK}/stubs:$ENV{PATH} ${WORK}/scripts/demo ${ARGN}
    RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT status EQUAL 0 OR NOT out MATCHES "\n${expected}\n$")
    message(FATAL_ERROR "scripts/demo ${ARGN} ends with ${status}; expected '${expected}' in:\n${out}")
  endif()
endfunction()

set(ranks "--ranks 2 --n-model-shards 2")
set(small "--width 192 --layers 4 --max-steps 200")
passes("${ranks} ${small} [|] scripts/demo")
passes("${ranks} [|] scripts/demo '--full'" --full)
passes("${small} --mesh 2x1 [|] scripts/demo '--mesh' '2x1'" --mesh 2x1)
passes("--n-model-shards 2 --width 192 --layers 4 --ranks=4 --max-steps 7 [|] .*" --ranks=4 --max-steps 7)
passes("${ranks} --lr 0.1 --max-steps 9 [|] .*" --lr 0.1 --full --max-steps 9)

# The program is the only target, so nothing else is compiled before the first step.
file(STRINGS ${WORK}/cmake_calls calls)
list(GET calls 1 call)
if(NOT call STREQUAL "--build build/release --target language_modeling")
  message(FATAL_ERROR "scripts/demo builds by: cmake ${call}")
endif()
