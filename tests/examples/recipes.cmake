# Runs a recipe in a short form. The result must be equal on one rank, on two replicas, on two
# shards, after a signal and a resume, and with ranks that are processes.
#   cmake -DPROGRAM= "-DARGUMENTS=--steps;20" "-DRESULT=regex with (the number)" -DMPIRUN= -DWORK=
#     [-DPICTURE=episode] -P recipes.cmake

include(${CMAKE_CURRENT_LIST_DIR}/../processes/processes.cmake)

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})

function(result_of name result)
  execute_process(COMMAND ${PROGRAM} ${ARGUMENTS} --dtype f64 --threads 1 --quiet --workdir ${WORK}/${name} ${ARGN}
    RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT status EQUAL 0 OR NOT out MATCHES "${RESULT}")
    message(FATAL_ERROR "${name} ended with ${status}, without '${RESULT}':\n${out}")
  endif()
  set(${result} "${CMAKE_MATCH_1}" PARENT_SCOPE)
endfunction()

function(same name found)
  if(NOT found STREQUAL one)
    message(FATAL_ERROR "${name} gives ${found}, one rank gave ${one}")
  endif()
endfunction()

result_of(1x1 one)
if(PICTURE)
  execute_process(COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/pictures.py ${WORK}/1x1 ${PICTURE} COMMAND_ERROR_IS_FATAL ANY)
endif()
foreach(mesh 2x1 1x2)
  result_of(${mesh} found --mesh ${mesh})
  same(${mesh} "${found}")
endforeach()

# The signal is sent after the run has claimed its workdir.
list(JOIN ARGUMENTS " " words)
execute_process(COMMAND sh -c "${PROGRAM} ${words} --dtype f64 --threads 1 --quiet --workdir ${WORK}/stopped & pid=$!
  until find ${WORK}/stopped -name log.txt 2>&1 | grep -q log.txt; do sleep 0.005; done; kill -TERM $pid; wait $pid"
  RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
if(NOT status EQUAL 75)
  message(FATAL_ERROR "a signal ends the run with ${status}, not 75:\n${out}")
endif()
result_of(stopped found)
same("the resumed run" "${found}")

skip_without_mpi()
foreach(run 2:2x1 2:1x2 4:2x2)
  string(REGEX MATCH "(.):(.*)" run ${run})
  set(mesh ${CMAKE_MATCH_2})
  run_processes(${CMAKE_MATCH_1} status out ${PROGRAM} ${ARGUMENTS} --dtype f64 --threads 1 --quiet --mesh ${mesh}
    --workdir ${WORK}/mpi_${mesh})
  if(NOT status EQUAL 0 OR NOT out MATCHES "${RESULT}")
    message(FATAL_ERROR "processes as ${mesh} ended with ${status}, without '${RESULT}':\n${out}")
  endif()
  same("processes as ${mesh}" "${CMAKE_MATCH_1}")
endforeach()
message("${one}")
