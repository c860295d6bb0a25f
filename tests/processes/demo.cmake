# Checks the demo whose ranks are processes, or threads of several processes (RUNS: processes:mesh).
# Its losses must equal those of threads alone, to the last written digit. RUNS with "overlap" use
# f64, because products in runs may round differently.
#   cmake -DPROGRAM= -DARGUMENTS= -DMPIRUN= [-DSTART=] -DWORK= -DRUNS="2:2x1;4:2x2;2:1x2:overlap"
#     -P demo.cmake

include(${CMAKE_CURRENT_LIST_DIR}/processes.cmake)
skip_without_mpi()

# Reads steps, losses and norms as the run wrote them, without times.
function(losses_of folder result)
  file(STRINGS ${folder}/metrics.jsonl lines)
  set(all "")
  foreach(line IN LISTS lines)
    foreach(key step loss grad_norm)
      if(line MATCHES "\"${key}\":([^,}]+)")
        string(APPEND all "${key} ${CMAKE_MATCH_1} ")
      endif()
    endforeach()
    string(APPEND all "\n")
  endforeach()
  set(${result} "${all}" PARENT_SCOPE)
endfunction()

# Checks that the log of processes has these words if and only if `wanted` is not empty, and that
# the log of threads does not.
function(check_log words wanted)
  file(STRINGS ${WORK}/${processes}_threads_${mesh}_${type}/log.txt of_threads REGEX "${words}")
  file(STRINGS ${WORK}/${processes}_processes_${mesh}_${type}/log.txt of_processes REGEX "${words}")
  if(of_threads OR (${wanted} AND NOT of_processes) OR (of_processes AND NOT ${wanted}))
    message(FATAL_ERROR "${mesh} ${between}: the log of threads has '${of_threads}', that of processes '${of_processes}'")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
foreach(run IN LISTS RUNS)
  string(REGEX MATCH "(.):([0-9x]+)(:overlap)?" run ${run})
  set(processes ${CMAKE_MATCH_1})
  set(mesh ${CMAKE_MATCH_2})
  set(type f32)
  set(between --deterministic)
  if(CMAKE_MATCH_3)
    set(type f64)
    set(between --overlap)
  endif()
  set(arguments ${ARGUMENTS} --mesh ${mesh} --max-steps 2 --global-batch 8 --dtype ${type} --threads 1 --quiet)
  execute_process(COMMAND ${PROGRAM} ${arguments} --workdir ${WORK}/${processes}_threads_${mesh}_${type}
    RESULT_VARIABLE status OUTPUT_VARIABLE of_threads ERROR_VARIABLE of_threads)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "threads as ${mesh} ended with ${status}:\n${of_threads}")
  endif()
  run_processes(${processes} status of_processes ${PROGRAM} ${arguments} ${between} --workdir ${WORK}/${processes}_processes_${mesh}_${type})
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "processes as ${mesh} ended with ${status}:\n${of_processes}")
  endif()
  losses_of(${WORK}/${processes}_threads_${mesh}_${type} threads)
  losses_of(${WORK}/${processes}_processes_${mesh}_${type} by_processes)
  if(NOT threads MATCHES "step 2 loss [0-9.]+" OR NOT threads STREQUAL by_processes)
    message(FATAL_ERROR "${mesh}: threads gave\n${threads}, ${processes} processes\n${by_processes}")
  endif()
  # Replicas in several processes sum gradients during backward, threads sum them after it.
  # Exchanges between shards overlap products only on request, because all processes are on one
  # machine.
  string(REGEX MATCH "^2x" replicas ${mesh})
  check_log("gradients are summed over [0-9]+ replicas while backward runs, 4194304 bytes at once" replicas)
  string(REGEX MATCH "--overlap" asked ${between})
  check_log("the exchange between 2 shards overlaps their matrix products" asked)
  foreach(words "held-out loss [0-9.]+ nats per byte")
    string(REGEX MATCH "${words}" threads "${of_threads}")
    string(REGEX MATCHALL "${words}" processes "${of_processes}")
    if(NOT threads STREQUAL processes)
      message(FATAL_ERROR "${mesh}: threads say '${threads}', processes '${processes}'")
    endif()
  endforeach()
endforeach()
