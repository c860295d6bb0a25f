# Checks tests that need something outside the repository. If it is missing, ctest shows a skip; in
# CI, where everything is installed, the test fails.
#   cmake -DROOT=DIR -DBUILD=DIR -DWORK=DIR -P skips.cmake

function(expect failed text)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(status)
    set(status 1)
  endif()
  if(NOT status EQUAL failed OR NOT out MATCHES "${text}")
    message(FATAL_ERROR "${ARGN}: expected '${text}' and ${failed}, got ${status}:\n${out}")
  endif()
endfunction()

set(tensorboard ${CMAKE_CTEST_COMMAND} --test-dir ${BUILD} --output-on-failure -R "^outside\\.log$")
expect(0 "tests did not run:.*outside\\.log \\(Skipped\\)" --unset=CI REDCO_TEST_PYTHON=/no/python ${tensorboard})
expect(1 "CI lacks what this test needs: no Python with tensorboard" CI=true REDCO_TEST_PYTHON=/no/python ${tensorboard})

set(browser ${CMAKE_COMMAND} -DROOT=${ROOT} -DWORK=${WORK} -P ${CMAKE_CURRENT_LIST_DIR}/report_browser.cmake)
expect(0 "skipped: no Chromium" --unset=CI --unset=REDCO_CHROMIUM PATH=/no/programs ${browser})
expect(1 "CI lacks what this test needs: no Chromium" CI=true --unset=REDCO_CHROMIUM PATH=/no/programs ${browser})
expect(1 "CI lacks what this test needs: /no/chromium does not run" CI=true REDCO_CHROMIUM=/no/chromium ${browser})
