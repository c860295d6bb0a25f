# skip(WHY), followed by return(), ends the script of a test that cannot run here: for a user a skip that ctest shows with its
# reason, in CI (CI=true), where scripts/setup --tests has installed everything, a failure.
function(skip why)
  if("$ENV{CI}" STREQUAL "true")
    message(FATAL_ERROR "CI lacks what this test needs: ${why}")
  endif()
  message("skipped: ${why}")
endfunction()
