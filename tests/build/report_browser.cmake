# A report's page in headless Chromium: its table sorts, nothing is wider than a narrow screen. Skips where there is none.
# $REDCO_CHROMIUM names one that is not in the path.
#   cmake -DROOT=DIR -DWORK=DIR -P report_browser.cmake

include("${ROOT}/cmake/Skip.cmake")
if(DEFINED ENV{REDCO_CHROMIUM})
  set(chromium "$ENV{REDCO_CHROMIUM}")
else()
  find_program(chromium NAMES chromium chromium-browser google-chrome)
endif()
if(NOT chromium)
  skip("no Chromium (scripts/setup --tests, or REDCO_CHROMIUM)")
  return()
endif()
file(REMOVE_RECURSE "${WORK}")
file(READ "${ROOT}/tests/golden/mlp_1x3.html" page)
string(CONCAT check "<script>const rows = () => [...document.querySelectorAll('.plan tbody tr')].map(r => r."
  "cells[0].textContent).join(' ');const buttons = document.querySelectorAll('.plan th button');buttons[4].click();const up = rows();"
  "buttons[4].click();document.title = 'up ' + up + ', down ' + rows() + ', wide ' + "
  "(document.documentElement.scrollWidth > innerWidth);</script>")
string(REPLACE "</body>" "${check}</body>" page "${page}")
file(WRITE "${WORK}/page.html" "${page}")
execute_process(COMMAND ${chromium} --headless --no-sandbox --disable-gpu --user-data-dir=${WORK}/profile --window-size=500,900
  --dump-dom file://${WORK}/page.html OUTPUT_VARIABLE dom ERROR_VARIABLE errors RESULT_VARIABLE status TIMEOUT 120)
if(NOT status EQUAL 0)
  skip("${chromium} does not run here (another one: REDCO_CHROMIUM): ${errors}")
  return()
endif()
string(REGEX MATCH "<title>[^<]*</title>" title "${dom}")
string(CONCAT wanted "<title>up down.bias up.bias down.weight up.weight, "
  "down up.weight down.weight up.bias down.bias, wide false</title>")
if(NOT title STREQUAL wanted)
  message(FATAL_ERROR "the page in chromium says\n${title}\nnot\n${wanted}")
endif()
