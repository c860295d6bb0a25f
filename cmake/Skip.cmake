# skip(WHY), followed by return(), ends the script of a test that cannot run here. Outside CI, ctest
# shows a skip with its reason. In CI (CI=true), where scripts/setup --tests has installed
# everything, the test fails.
function(skip why)
  if("$ENV{CI}" STREQUAL "true")
    message(FATAL_ERROR "CI lacks what this test needs: ${why}")
  endif()
  message("skipped: ${why}")
endfunction()
