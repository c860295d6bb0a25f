# run(command...): runs the command, which must succeed; sets `out` to its output. For scripts of
# tests.
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT status EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "${command}\nfailed (${status}):\n${out}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()
