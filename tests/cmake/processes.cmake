# Tests whose ranks are processes.
set(redco_mpirun)
if(REDCO_MPI_LIBRARY AND REDCO_MPI_INCLUDE AND REDCO_MPIRUN)
  set(redco_mpirun -DMPIRUN=${REDCO_MPIRUN})
endif()
list(APPEND redco_built ${CMAKE_CURRENT_SOURCE_DIR}/processes/laws.cpp ${CMAKE_CURRENT_SOURCE_DIR}/processes/agreement.cpp
  ${CMAKE_CURRENT_SOURCE_DIR}/processes/stages.cpp)
if("run" IN_LIST redco_rooms AND NOT REDCO_SANITIZE)
  redco_test_program(processes program processes/laws.cpp)
  function(redco_processes_test name processes exit)
    cmake_parse_arguments(PARSE_ARGV 3 arg "" "" "ARGUMENTS;WORDS;START")
    redco_add_test(processes.${name} COMMAND ${CMAKE_COMMAND} ${redco_mpirun} -DPROCESSES=${processes} "-DSTART=${arg_START}"
      -DPROGRAM=$<TARGET_FILE:processes> "-DARGUMENTS=${arg_ARGUMENTS}" -DEXIT=${exit} "-DWORDS=${arg_WORDS}"
      -P ${CMAKE_CURRENT_SOURCE_DIR}/processes/processes.cmake)
  endfunction()
  # Two processes with different options, data, folders or MPI settings.
  redco_test_program(agreement program processes/agreement.cpp)
  set(mpirun)
  set(by_mpirun)
  if(redco_mpirun)
    set(mpirun --mpirun ${REDCO_MPIRUN})
    set(by_mpirun ${REDCO_MPIRUN})
  endif()
  foreach(group options own data folders mpi)
    redco_add_test(processes.agree_on_${group} COMMAND python3 ${CMAKE_CURRENT_SOURCE_DIR}/processes/agreement.py
      $<TARGET_FILE:agreement> --work ${PROJECT_BINARY_DIR}/tests/agree_on_${group} ${mpirun} ${group}
      PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: ")
  endforeach()
  # Trainings whose pipeline stages are processes.
  redco_test_program(stages program processes/stages.cpp)
  foreach(check losses verify large parts peaks overlap shares context experts killed preempted memory)
    redco_add_test(processes.stages_${check} COMMAND python3 ${CMAKE_CURRENT_SOURCE_DIR}/processes/stages.py
      $<TARGET_FILE:stages> --work ${PROJECT_BINARY_DIR}/tests/stages_${check} ${check})
  endforeach()
  foreach(check losses verify shares context experts killed preempted)
    redco_add_test(processes.mpi_stages_${check} COMMAND python3 ${CMAKE_CURRENT_SOURCE_DIR}/processes/stages.py
      $<TARGET_FILE:stages> --work ${PROJECT_BINARY_DIR}/tests/mpi_stages_${check} --mpirun=${by_mpirun} ${check}
      PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: ")
  endforeach()
  foreach(check large parts peaks)
    redco_long_test(mpi_${check} COMMAND python3 ${CMAKE_CURRENT_SOURCE_DIR}/processes/stages.py
      $<TARGET_FILE:stages> --work ${PROJECT_BINARY_DIR}/tests/mpi_stages_${check} --mpirun=${by_mpirun} ${check}
      PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: ")
  endforeach()
  redco_processes_test(laws_of_3 3 0 WORDS "shown once" "process 0: all holds" "process 1: all holds" "process 2: all holds")
  redco_processes_test(laws_of_4 4 0 WORDS "shown once" "process 3: all holds")
  redco_processes_test(laws_of_2_by_3 2 0 ARGUMENTS --each 3 WORDS "shown once" "process 1: all holds")
  redco_processes_test(fail 3 65 ARGUMENTS --fail WORDS "error: rank 1: bad data\n")
  redco_processes_test(stuck 3 69 ARGUMENTS --stuck WORDS "rank 1 does not end: killed")
  set(by_tcp START ${CMAKE_CURRENT_SOURCE_DIR}/processes/start.py)
  redco_processes_test(tcp_laws_of_3 3 0 ${by_tcp} WORDS "shown once" "process 0: all holds" "process 1: all holds"
    "process 2: all holds")
  redco_processes_test(tcp_laws_of_3_by_2 3 0 ARGUMENTS --each 2 ${by_tcp} WORDS "shown once" "process 2: all holds")
  redco_processes_test(tcp_killed_of_2 2 137 ARGUMENTS --each 2 --killed 3 ${by_tcp} WORDS
    "error: rank 2 to 3: its process on [^ ]+ \\(127.0.0.1\\) is gone without a word")
  redco_processes_test(tcp_stuck_of_2 2 69 ARGUMENTS --each 2 --stuck ${by_tcp} WORDS "rank 1 does not end: killed")
  redco_processes_test(tcp_fail 3 65 ARGUMENTS --fail ${by_tcp} WORDS "error: rank 1: bad data\n")
  redco_processes_test(tcp_stuck 3 69 ARGUMENTS --stuck ${by_tcp} WORDS "rank 1 does not end: killed")
  redco_processes_test(tcp_killed 3 137 ARGUMENTS --killed 1 ${by_tcp} WORDS
    "error: rank 1: its process on [^ ]+ \\(127.0.0.1\\) is gone without a word"
    " rank 0 waits in barrier, call [0-9]+ of group world\n")
  redco_processes_test(tcp_first_killed 3 137 ARGUMENTS --killed 0 ${by_tcp} WORDS
    "error: rank 0: its process on [^ ]+ \\(127.0.0.1\\) is gone without a word")
  redco_processes_test(tcp_missing 3 76 ARGUMENTS --impatient ${by_tcp} --late WORDS
    "process 0 of 3 \\(REDCO_\\*\\), which meet at 127.0.0.1:[0-9]+: 0, 1 came, 2 did not within 10000 ms"
    "process 1 of 3 \\(REDCO_\\*\\), which meet at 127.0.0.1:[0-9]+: 0, 1 came, 2 did not within 10000 ms")
  redco_processes_test(killed 3 137 ARGUMENTS --killed 1 WORDS
    "rank 0 waits in barrier, call [0-9]+ of group world on [^ ]+, and SIGTERM ends it: see what the others printed\n")
  # One process does not arrive: the others wait for it.
  set_tests_properties(processes.tcp_missing PROPERTIES PROCESSORS 1)
  # Foreign connections to the meeting port, and the way in which processes end.
  foreach(check flood forged failure second_job wrong_secret untrusted one_host store ipv6)
    redco_add_test(processes.${check} COMMAND python3 ${CMAKE_CURRENT_SOURCE_DIR}/processes/strangers.py ${check}
      $<TARGET_FILE:processes> PROPERTIES PROCESSORS 1 SKIP_REGULAR_EXPRESSION "skipped: ")
  endforeach()
  if(REDCO_EXAMPLES)
    foreach(check late stopped_at_start stopped_in_first_step resumed rests stopped_at_rest)
      redco_add_test(processes.${check} COMMAND python3 ${CMAKE_CURRENT_SOURCE_DIR}/processes/endings.py ${check}
        $<TARGET_FILE:processes> $<TARGET_FILE:own_layer> --workdir ${PROJECT_BINARY_DIR}/tests/${check} --resume none
        PROPERTIES PROCESSORS 1)
    endforeach()
  endif()
  redco_add_test(processes.stopped_at_rest_by_mpirun COMMAND python3 ${CMAKE_CURRENT_SOURCE_DIR}/processes/endings.py
    stopped_at_rest_by_mpirun $<TARGET_FILE:processes> ${by_mpirun} PROPERTIES PROCESSORS 1)
endif()
