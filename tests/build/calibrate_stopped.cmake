# Checks that redco-calibrate, if it is stopped during a measurement, leaves the machine's file as
# it was: absent, or with its old content.
#   cmake -DTOOL=redco-calibrate -DWORK=DIR -P calibrate_stopped.cmake

file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")
function(stop_while_measuring wanted)
  execute_process(COMMAND bash -c "'${TOOL}' --machine '${WORK}/machine.json' > '${WORK}/out' 2> '${WORK}/error' & pid=$!
    for i in {1..600}; do grep -q measures '${WORK}/out' '${WORK}/error' && break; sleep 0.1; done
    kill -TERM $pid; wait $pid" OUTPUT_QUIET ERROR_QUIET)
  file(READ "${WORK}/error" errors)
  if(NOT errors MATCHES "measures this machine")
    message(FATAL_ERROR "redco-calibrate did not begin to measure, or does not say so on standard error: ${errors}")
  endif()
  file(GLOB left RELATIVE "${WORK}" "${WORK}/*")
  set(text "")
  if(EXISTS "${WORK}/machine.json")
    file(READ "${WORK}/machine.json" text)
    list(REMOVE_ITEM left machine.json)
  endif()
  if(NOT text STREQUAL wanted OR NOT left STREQUAL "error;out")
    message(FATAL_ERROR "a stopped calibration leaves '${text}' in the file, and ${left}")
  endif()
endfunction()

stop_while_measuring("")
if(EXISTS "${WORK}/machine.json")
  message(FATAL_ERROR "a stopped calibration leaves an empty file")
endif()
file(WRITE "${WORK}/machine.json" "the old content")
stop_while_measuring("the old content")
