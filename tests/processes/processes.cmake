# Runs programs whose ranks are processes, started by mpirun or by start.py of this folder. An
# include of this file defines two functions:
#   run_processes(NUMBER STATUS OUTPUT PROGRAM ARGUMENTS...)
#   skip_without_mpi()
#
# As a script, this file runs one program and checks the exit code. Each expression must match the
# output exactly once:
#   cmake -DMPIRUN=path -DPROCESSES=2 -DPROGRAM=path -DARGUMENTS="a;b" -DEXIT=65
#     -DWORDS="regular;expressions" -P processes.cmake
# Skipped without MPIRUN. -DSTART="start.py;options" in its place needs no MPI.

include(${CMAKE_CURRENT_LIST_DIR}/../../cmake/Skip.cmake)

# Allows more processes than cores, also for root; no process is bound to a core. Variables of Open
# MPI 4, then of Open MPI 5.
set(ENV{OMPI_ALLOW_RUN_AS_ROOT} 1)
set(ENV{OMPI_ALLOW_RUN_AS_ROOT_CONFIRM} 1)
set(ENV{OMPI_MCA_rmaps_base_oversubscribe} 1)
set(ENV{OMPI_MCA_hwloc_base_binding_policy} none)
set(ENV{OMPI_MCA_btl_vader_single_copy_mechanism} none)
set(ENV{PRTE_ALLOW_RUN_AS_ROOT} 1)
set(ENV{PRTE_ALLOW_RUN_AS_ROOT_CONFIRM} 1)
set(ENV{PRTE_MCA_rmaps_default_mapping_policy} ":oversubscribe")
set(ENV{PRTE_MCA_hwloc_default_binding_policy} none)

function(run_processes number status output)
  set(starter ${MPIRUN} -n)
  if(START)
    set(starter python3 ${START})
  endif()
  execute_process(COMMAND ${starter} ${number} ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
  set(${status} "${code}" PARENT_SCOPE)
  set(${output} "${text}" PARENT_SCOPE)
endfunction()

# Without MPI, skips the test that calls this macro and returns from its script.
macro(skip_without_mpi)
  if(NOT MPIRUN AND NOT START)
    skip("no MPI: install libopenmpi-dev and openmpi-bin, configure again")
    return()
  endif()
endmacro()

if(PROCESSES)
  skip_without_mpi()
  if(START)
    list(PREPEND ARGUMENTS ${START} ${PROCESSES} ${PROGRAM})
    set(PROGRAM python3)
  else()
    list(PREPEND ARGUMENTS -n ${PROCESSES} ${PROGRAM})
    set(PROGRAM ${MPIRUN})
  endif()
  set(ONCE ON)
  include(${CMAKE_CURRENT_LIST_DIR}/../../cmake/RunProgram.cmake)
endif()
