# Runs a recipe with one option changed at a time. Each option must change the metrics.
#   cmake -DPROGRAM= "-DARGUMENTS=--updates;2" "-DCHANGES=--lr 0.1;--epochs 3" -DWORK=
#     -P recipe_options.cmake

file(REMOVE_RECURSE ${WORK})

function(metrics_of name result)
  execute_process(COMMAND ${PROGRAM} ${ARGUMENTS} ${ARGN} --threads 1 --quiet --workdir ${WORK}/${name}
    RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${PROGRAM} ${ARGUMENTS} ${ARGN} ended with ${status}:\n${out}")
  endif()
  file(GLOB_RECURSE files ${WORK}/${name}/metrics.jsonl)
  set(all)
  foreach(file IN LISTS files)
    file(READ ${file} text)
    string(REGEX REPLACE "\"[a-z_]*_per_second\":[^,}]*" "" text "${text}")
    string(APPEND all "${text}")
  endforeach()
  if(NOT all)
    message(FATAL_ERROR "${PROGRAM} ${ARGUMENTS} ${ARGN} wrote no metrics")
  endif()
  set(${result} "${all}" PARENT_SCOPE)
endfunction()

metrics_of(standard standard)
metrics_of(again again)
if(NOT again STREQUAL standard)
  message(FATAL_ERROR "two equal runs have different metrics:\n${standard}\n${again}")
endif()
foreach(change IN LISTS CHANGES)
  string(REPLACE " " ";" words "${change}")
  string(MAKE_C_IDENTIFIER "${change}" name)
  metrics_of(${name} changed ${words})
  if(changed STREQUAL standard)
    message(FATAL_ERROR "${change} changes no metric:\n${changed}")
  endif()
endforeach()
