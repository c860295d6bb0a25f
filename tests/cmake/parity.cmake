# Comparisons with transformers.

file(GLOB sources CONFIGURE_DEPENDS parity/*.cpp)
list(APPEND redco_built ${sources})
if(parity IN_LIST redco_rooms AND NOT REDCO_SANITIZE)
  redco_test_program(parity program ${sources})
  configure_file(parity/parity_tests.cmake.in ${PROJECT_BINARY_DIR}/tests/parity_tests.cmake @ONLY)
  # Folders that two versions of transformers write, load and save, both at once.
  redco_long_test(folders COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/parity/check_folders.py $<TARGET_FILE:parity>
    ${PROJECT_BINARY_DIR}/tests/folders PROPERTIES ENVIRONMENT "${redco_torch_environment}" PROCESSORS 4)
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${PROJECT_BINARY_DIR}/tests/parity_tests.cmake)

  # Reference numbers of optimizers and tokenizers: test cases of two rooms, added as separate tests
  # too.
  foreach(room update tokenizer)
    if(TARGET test_${room})
      redco_add_test(parity.${room} COMMAND $<TARGET_FILE:test_${room}> [parity] PROPERTIES
        ENVIRONMENT "${redco_torch_environment}" SKIP_REGULAR_EXPRESSION "skipped: no"
        FAIL_REGULAR_EXPRESSION "No test")
    endif()
  endforeach()
endif()
