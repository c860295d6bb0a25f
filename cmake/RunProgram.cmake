# Runs a program and checks its exit code and its output.
#   cmake -DPROGRAM=path -DARGUMENTS="a;b" -DEXIT=64 -DWORDS="regular;expressions" -DFRESH=folder
#     -DONCE=ON -P RunProgram.cmake
# FRESH is removed before the run. Standard output and standard error together must match every
# expression, with ONCE exactly one time.

if(FRESH)
  file(REMOVE_RECURSE ${FRESH})
endif()
execute_process(COMMAND ${PROGRAM} ${ARGUMENTS} RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
if(NOT status STREQUAL "${EXIT}")
  message(FATAL_ERROR "exit code ${status} instead of ${EXIT}:\n${text}")
endif()
foreach(words IN LISTS WORDS)
  if(NOT text MATCHES "${words}")
    message(FATAL_ERROR "no \"${words}\" in:\n${text}")
  endif()
  string(REGEX MATCHALL "${words}" all "${text}")
  list(LENGTH all times)
  if(ONCE AND times GREATER 1)
    message(FATAL_ERROR "\"${words}\" occurs ${times} times instead of once in:\n${text}")
  endif()
endforeach()
