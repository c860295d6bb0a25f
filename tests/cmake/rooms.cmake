# Unit tests: one executable per room.

# Optimised rooms, whose tests compute much; without the precompiled header, which is not optimised
set(redco_busy tokenizer)
set(redco_sets kernel)  # rooms whose cases run with both kernel sets
# Rooms with cases tagged [outside]; each case skips for one reason
set(redco_outside model pretrained compat ckpt log kernel)
# Rooms with only such cases: Catch2 3 reports a run without cases as a failure
set(redco_outside_only model compat)

# Rooms whose cases ask for the optional libraries of tokenizers, or call them
set(redco_with_text_libraries tokenizer pretrained)

# Files of the room run, about shares of state and experts, that are two tests of their own, because
# all cases take minutes, and longer under ThreadSanitizer
set(redco_groups_of_run zero shares)
set(redco_files_of_zero "^zero(_checkpoints)?[.]")
set(redco_files_of_shares "^(zero_[^c]|zero_cases|owners|gathered|gradient_shares|expert)")

foreach(room IN LISTS REDCO_ROOMS)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${room}/*.test.cpp)
  list(APPEND redco_built ${sources})
  if(sources AND room IN_LIST redco_rooms)
    set(kind plan)
    if(room IN_LIST REDCO_TORCH_ROOMS)
      set(kind torch)
    endif()
    if(REDCO_FLOOR_OF_${room} GREATER 11)
      redco_test_executable(test_${room} program ${sources})
    else()
      redco_test_executable(test_${room} ${kind} ${sources})
    endif()
    if(room IN_LIST redco_with_text_libraries)
      target_link_libraries(test_${room} PRIVATE redco::text_libraries)
    endif()
    if(room IN_LIST redco_busy)
      set_target_properties(test_${room} PROPERTIES REDCO_BUSY ON DISABLE_PRECOMPILE_HEADERS ON)
    endif()
    # Catch2 makes tags of file names.
    set(usual "~[outside]~[.]")
    if(room STREQUAL "run")
      foreach(group IN LISTS redco_groups_of_run)
        set(of_group)
        foreach(source IN LISTS sources)
          get_filename_component(file ${source} NAME_WLE)
          if(file MATCHES "${redco_files_of_${group}}")
            string(APPEND of_group "[#${file}]~[outside]~[.],")
            string(APPEND usual "~[#${file}]")
          endif()
        endforeach()
        string(REGEX REPLACE ",$" "" of_group "${of_group}")
        redco_add_test(room.run.${group} COMMAND ${redco_launcher} $<TARGET_FILE:test_run> --filenames-as-tags ${of_group}
          PROPERTIES ENVIRONMENT "${redco_${kind}_environment}" FAIL_REGULAR_EXPRESSION "No test")
      endforeach()
    endif()
    if(NOT room IN_LIST redco_outside_only)
      redco_add_test(room.${room} COMMAND ${redco_launcher} $<TARGET_FILE:test_${room}> --filenames-as-tags ${usual}
        PROPERTIES ENVIRONMENT "${redco_${kind}_environment}")
    endif()
    if(room IN_LIST redco_sets)
      redco_add_test(room.${room}.composed COMMAND ${redco_launcher} $<TARGET_FILE:test_${room}> ~[outside]~[.]
        PROPERTIES ENVIRONMENT "${redco_${kind}_environment};REDCO_KERNELS=composed")
      redco_add_test(room.${room}.device_text COMMAND ${redco_launcher} $<TARGET_FILE:test_${room}> ~[outside]~[.]
        PROPERTIES ENVIRONMENT "${redco_${kind}_environment};REDCO_TEST_DEVICE_TEXT=1")
    endif()
    # Cases that need files outside the repository are a separate test, so that ctest shows when
    # they are skipped.
    if(room IN_LIST redco_outside)
      redco_add_test(outside.${room} COMMAND ${redco_launcher} $<TARGET_FILE:test_${room}> [outside]
        PROPERTIES ENVIRONMENT "${redco_${kind}_environment}" SKIP_REGULAR_EXPRESSION "skipped: "
        FAIL_REGULAR_EXPRESSION "No test")
    endif()
  endif()
endforeach()

# Hidden Catch2 cases that take minutes.
if(TARGET test_tokenizer AND TARGET test_run AND NOT REDCO_SANITIZE)
  foreach(tokenizer llama3 qwen2 llama2 bert)
    redco_long_test(tokenize_${tokenizer} COMMAND $<TARGET_FILE:test_tokenizer> [long_${tokenizer}]
      PROPERTIES ENVIRONMENT "${redco_plan_environment}" FAIL_REGULAR_EXPRESSION "No test")
  endforeach()
  redco_long_test(bf16 COMMAND $<TARGET_FILE:test_run> [long_bf16]
    PROPERTIES ENVIRONMENT "${redco_torch_environment}" FAIL_REGULAR_EXPRESSION "No test")
endif()
