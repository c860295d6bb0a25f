# Functions that add a test.

# Calls add_test with the settings that all tests share. Tests compute on the CPU on every machine;
# scripts/gpu runs the tests of a device. scripts/test lets ctest count half cores: a test takes one
# core, and a test with PROCESSORS 1, which mostly waits, takes half a core.
function(redco_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "COMMAND;PROPERTIES")
  add_test(NAME ${redco_prefix}${name} COMMAND ${arg_COMMAND} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set(limit 900)  # seconds
  if(REDCO_SANITIZE)
    set(limit 2700)
  endif()
  set_tests_properties(${redco_prefix}${name} PROPERTIES TIMEOUT ${limit} SKIP_RETURN_CODE 77 PROCESSORS 2
    ENVIRONMENT_MODIFICATION REDCO_DEVICE=set:cpu ${arg_PROPERTIES})
endfunction()

# Adds a test that takes minutes, if REDCO_LONG_TESTS names it, as scripts/test does. long_tests.txt
# lists the names of all long tests.
set(redco_long_names)
function(redco_long_test name)
  set(redco_long_names ${redco_long_names} ${name} PARENT_SCOPE)
  # ARGN would cut a property that is a list into several.
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "COMMAND;PROPERTIES")
  if(name IN_LIST REDCO_LONG_TESTS)
    redco_add_test(long.${name} COMMAND ${arg_COMMAND} PROPERTIES ${arg_PROPERTIES})
    set_tests_properties(${redco_prefix}long.${name} PROPERTIES TIMEOUT 1800 COST 100)
  endif()
endfunction()
