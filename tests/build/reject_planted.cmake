# Checks that RejectTwin.cmake accepts a correct twin and finds each way in which a twin can be
# wrong.
#   cmake -DTWIN=RejectTwin.cmake -DWORK=DIR -DINCLUDE=DIR -DCACHE=DIR -P reject_planted.cmake

file(REMOVE_RECURSE "${WORK}")

function(check name expected accept reject)
  set(file "${WORK}/${name}.cpp")
  file(WRITE "${file}" "#if REDCO_ACCEPT\n${accept}\n#else  // expect: redco[S001]\n${reject}\n#endif\n")
  execute_process(COMMAND ${CMAKE_COMMAND} -DFILE=${file} -DINCLUDE=${INCLUDE} -DCACHE=${CACHE} -P ${TWIN}
    RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(expected STREQUAL "")
    if(NOT status EQUAL 0)
      message(FATAL_ERROR "a good twin is refused:\n${out}")
    endif()
  elseif(status EQUAL 0 OR NOT out MATCHES "${expected}")
    message(FATAL_ERROR "expected '${expected}' and a failure; got (${status}):\n${out}")
  endif()
endfunction()

set(good "static_assert(sizeof(char) == 1, \"redco[S001]: fine\");")
set(bad "static_assert(sizeof(char) == 2, \"redco[S001]: a char has one byte\");")
check(S001_good "" "${good}" "${bad}")
check(S001_accept "rejects the accepted twin" "${bad}" "${bad}")
check(S001_compiles "compiles the file, which must be rejected" "${good}" "${good}")
check(S001_two "prints 2 errors" "${good}" "${bad}\nint x = nowhere;")
check(S001_other "does not say redco.S001" "${good}" "static_assert(sizeof(char) == 2, \"redco[S002]: redco\");")
check(S001_echo "does not say redco.S001" "${good}" "int x = nowhere;  // redco[S001]")
check(S002_name "rename the file to S001_" "${good}" "${bad}")

# The limit of lines, and the text that must be in them.
function(check_bound expected bound)
  file(WRITE "${WORK}/S001_bound.cpp" "#if REDCO_ACCEPT\n#else  // expect: redco[S001] ${bound}\n${bad}\n#endif\n")
  execute_process(COMMAND ${CMAKE_COMMAND} -DFILE=${WORK}/S001_bound.cpp -DINCLUDE=${INCLUDE} -DCACHE=${CACHE} -P ${TWIN}
    RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT status EQUAL expected)
    message(FATAL_ERROR "bound '${bound}' gives ${status}, not ${expected}:\n${out}")
  endif()
endfunction()
check_bound(0 "in 8 lines with one byte")
check_bound(1 "in 2 lines with one byte")
check_bound(1 "in 8 lines with two bytes")
