# Ranks on two hosts, which are network namespaces of this machine.
set(redco_python python3)
if(EXISTS /usr/bin/python3)
  set(redco_python /usr/bin/python3)  # has the packages of scripts/setup --tests
endif()
function(redco_hosts_test name script)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "ARGUMENTS;PROPERTIES")
  redco_add_test(hosts.${name} COMMAND ${redco_python} ${CMAKE_CURRENT_SOURCE_DIR}/hosts/${script} ${arg_ARGUMENTS}
    PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: " ${arg_PROPERTIES})
endfunction()
list(APPEND redco_built ${CMAKE_CURRENT_SOURCE_DIR}/hosts/expert_rows.cpp)
if("run" IN_LIST redco_rooms AND NOT REDCO_SANITIZE AND REDCO_EXAMPLES)
  set(hosts ${PROJECT_BINARY_DIR}/tests/hosts)
  set(mpirun)
  if(redco_mpirun)
    set(mpirun --mpirun ${REDCO_MPIRUN})
  endif()
  set(short --text ${PROJECT_SOURCE_DIR}/CHANGELOG.md --global-batch 2 --dtype f32 --threads 1 --deterministic --quiet)
  set(short_run ${short} --mesh 2x1 --max-steps 2)
  redco_add_test(hosts.threads COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:language_modeling>
    "-DARGUMENTS=${short_run};--workdir;${hosts}/threads" -DEXIT=0 -DFRESH=${hosts}/threads
    -P ${PROJECT_SOURCE_DIR}/cmake/RunProgram.cmake PROPERTIES FIXTURES_SETUP hosts_threads)
  foreach(how mpirun torchrun by_hand pods)
    redco_hosts_test(${how} launchers.py ARGUMENTS ${how} --work ${hosts}/${how} --laws $<TARGET_FILE:processes>
      --threads ${hosts}/threads ${mpirun} --demo $<TARGET_FILE:language_modeling> ${short_run} PROPERTIES FIXTURES_REQUIRED hosts_threads)
  endforeach()
  redco_hosts_test(faults faults.py ARGUMENTS --work ${hosts}/faults --laws $<TARGET_FILE:processes> ${mpirun})
  redco_hosts_test(checkpoints checkpoints.py ARGUMENTS --work ${hosts}/checkpoints
    --demo $<TARGET_FILE:language_modeling> ${short})
  redco_hosts_test(agreement agreement.py ARGUMENTS --work ${hosts}/agreement --program $<TARGET_FILE:agreement>)
  redco_hosts_test(cleanup cleanup.py ARGUMENTS ${hosts}/cleanup)
  redco_test_program(expert_rows program hosts/expert_rows.cpp)
  redco_hosts_test(experts experts.py ARGUMENTS --work ${hosts}/experts --program $<TARGET_FILE:expert_rows>)
endif()

# The files with which clusters start ranks.
if(redco_build_tests)
  redco_add_test(deploy COMMAND ${redco_python} ${CMAKE_CURRENT_SOURCE_DIR}/deploy/check_deploy.py PROPERTIES
    SKIP_REGULAR_EXPRESSION "skipped: ")
endif()
