# The object of all headers defines exactly one function that is not inline. It is in the test's own
# file, to prove that such functions are found.

execute_process(COMMAND ${NM} --defined-only --extern-only --demangle ${OBJECT} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[0-9a-f]+ [TDBR] [^\n]+" strong "${symbols}")
list(TRANSFORM strong REPLACE "^[0-9a-f]+ [TDBR] " "")
if(NOT strong STREQUAL "not_inline()")
  list(JOIN strong "\n  " strong)
  message(FATAL_ERROR "not inline, so defined twice in a program of two files:\n  ${strong}")
endif()
