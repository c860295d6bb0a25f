# Tests of the sources and the build: floors, headers alone, static and reject tests, one definition
# rule, the second compiler, consumers.

set(redco_cmake ${PROJECT_SOURCE_DIR}/cmake)

redco_add_test(build.floors COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -P ${redco_cmake}/CheckFloors.cmake)
redco_add_test(build.floors_planted COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR}
  -DWORK=${PROJECT_BINARY_DIR}/floors_planted -P ${CMAKE_CURRENT_LIST_DIR}/floors_planted.cmake)
redco_add_test(build.codes COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -P ${redco_cmake}/CheckCodes.cmake)

redco_add_test(build.format COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -P ${redco_cmake}/CheckFormat.cmake)

# Rules for comments, names of namespace redco, and promises of pages: docs/contributing.md.
redco_add_test(build.language COMMAND python3 -B ${CMAKE_CURRENT_LIST_DIR}/language.py ${PROJECT_SOURCE_DIR})
redco_add_test(build.language_planted COMMAND python3 -B ${CMAKE_CURRENT_LIST_DIR}/language.py ${PROJECT_SOURCE_DIR} --planted)
redco_add_test(build.pages COMMAND python3 -B ${CMAKE_CURRENT_LIST_DIR}/pages.py ${PROJECT_SOURCE_DIR})
redco_add_test(build.names COMMAND python3 -B ${CMAKE_CURRENT_LIST_DIR}/names.py ${PROJECT_SOURCE_DIR})
redco_add_test(build.names_planted COMMAND python3 -B ${CMAKE_CURRENT_LIST_DIR}/names.py ${PROJECT_SOURCE_DIR} --planted)
# The table of examples/README.md.
redco_add_test(build.recipes COMMAND ${PROJECT_SOURCE_DIR}/scripts/recipes --check)
redco_add_test(build.function_docs COMMAND python3 -B ${CMAKE_CURRENT_LIST_DIR}/function_docs.py ${PROJECT_SOURCE_DIR})
redco_add_test(build.function_docs_planted COMMAND python3 -B ${CMAKE_CURRENT_LIST_DIR}/function_docs.py ${PROJECT_SOURCE_DIR} --planted)
redco_add_test(build.pictures COMMAND python3 -B ${PROJECT_SOURCE_DIR}/docs/pictures/make_pictures.py --check)

list(JOIN redco_built "\n" redco_list)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/built_tests.txt CONTENT "${redco_list}\n" @ONLY)
redco_add_test(build.tests_listed COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR}
  -DBUILT=${PROJECT_BINARY_DIR}/built_tests.txt -P ${redco_cmake}/CheckTests.cmake)

redco_add_test(build.demo_script COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DWORK=${PROJECT_BINARY_DIR}/demo_script
  -P ${CMAKE_CURRENT_LIST_DIR}/demo_script.cmake)
redco_long_test(setup COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DTORCH_ROOT=${redco_torch_found}
  -DWORK=${PROJECT_BINARY_DIR}/setup -P ${CMAKE_CURRENT_LIST_DIR}/setup.cmake)

include(build/header_tests.cmake)
include(build/compile_tests.cmake)
include(build/link_tests.cmake)
include(build/consumer_tests.cmake)

redco_long_test(shard_report COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DWORK=${PROJECT_BINARY_DIR}/shard_report
  -DTORCH_ROOT=${redco_torch_found} -DCXX=${CMAKE_CXX_COMPILER} -P ${CMAKE_CURRENT_LIST_DIR}/shard_report.cmake)

redco_add_test(build.bench_compare COMMAND python3 -B ${CMAKE_CURRENT_LIST_DIR}/bench_compare.py ${PROJECT_SOURCE_DIR}/benchmarks)
redco_add_test(build.gpu_script COMMAND python3 -B ${CMAKE_CURRENT_LIST_DIR}/gpu_script.py ${PROJECT_SOURCE_DIR})
list(JOIN redco_long_names "\n" redco_list)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/long_tests.txt CONTENT "${redco_list}\n" @ONLY)
list(JOIN REDCO_TORCH_ROOMS " " redco_list)
list(JOIN redco_outside_only " " redco_list_outside)
redco_add_test(build.long_tests COMMAND python3 -B ${CMAKE_CURRENT_LIST_DIR}/long_tests.py ${PROJECT_SOURCE_DIR}
  ${PROJECT_BINARY_DIR}/long_tests.txt "${redco_list}" "${redco_list_outside}")
redco_add_test(build.mutants COMMAND ${PROJECT_SOURCE_DIR}/scripts/mutants --check)
redco_test_executable(planted_mistakes plan ${CMAKE_CURRENT_LIST_DIR}/planted_mistakes.cpp)
redco_add_test(build.mutants_planted COMMAND python3 -B ${CMAKE_CURRENT_LIST_DIR}/mutants.py ${PROJECT_SOURCE_DIR} $<TARGET_FILE:planted_mistakes>)
if(TARGET test_log)
  redco_add_test(build.skips COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DBUILD=${PROJECT_BINARY_DIR}
    -DWORK=${PROJECT_BINARY_DIR}/skips -P ${CMAKE_CURRENT_LIST_DIR}/skips.cmake)
endif()
redco_add_test(build.report_browser COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR}
  -DWORK=${PROJECT_BINARY_DIR}/report_browser -P ${CMAKE_CURRENT_LIST_DIR}/report_browser.cmake)
foreach(name build.format build.report_browser)
  set_tests_properties(${redco_prefix}${name} PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: ")
endforeach()

# The longest tests start first.
foreach(name demo.pretrained recipe.captioning recipe.classification room.run room.run.zero room.run.shares)
  if(TEST ${redco_prefix}${name})
    set_tests_properties(${redco_prefix}${name} PROPERTIES COST 100)
  endif()
endforeach()

if(TARGET redco-calibrate)
  redco_add_test(build.calibrate_stopped COMMAND ${CMAKE_COMMAND} -DTOOL=$<TARGET_FILE:redco-calibrate>
    -DWORK=${PROJECT_BINARY_DIR}/calibrate_stopped -P ${CMAKE_CURRENT_LIST_DIR}/calibrate_stopped.cmake)
endif()
if(TARGET redco-tokenize)
  redco_add_test(build.tokenize_tool COMMAND ${CMAKE_COMMAND} -DTOOL=$<TARGET_FILE:redco-tokenize> -DWORK=${PROJECT_BINARY_DIR}/tokenize_tool
    -DTOKENIZER=${PROJECT_SOURCE_DIR}/tests/files/tokenizers/files_gpt2 -P ${CMAKE_CURRENT_LIST_DIR}/tokenize_tool.cmake)
endif()
if(TARGET redco-plan)
  redco_add_test(build.plan_tool COMMAND ${CMAKE_COMMAND} -DTOOL=$<TARGET_FILE:redco-plan> -DWORK=${PROJECT_BINARY_DIR}/plan_tool
    -P ${CMAKE_CURRENT_LIST_DIR}/plan_tool.cmake)
  redco_add_test(build.mt_nlg COMMAND python3 -B ${PROJECT_SOURCE_DIR}/scripts/mt-nlg --plan $<TARGET_FILE:redco-plan> --check)
endif()
