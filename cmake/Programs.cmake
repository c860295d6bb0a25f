# Flags and targets of our own programs: tests, examples, benchmarks, tools.

add_library(redco_flags INTERFACE)
if(REDCO_WARNINGS)
  target_compile_options(redco_flags INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  # ccache with clang needs a precompiled header without a time stamp.
  target_compile_options(redco_flags INTERFACE "SHELL:-Xclang -fno-pch-timestamp")
else()
  target_compile_options(redco_flags INTERFACE -fpch-preprocess)
endif()
if(REDCO_SANITIZE)
  # The vptr check needs type information that libtorch hides.
  target_compile_options(redco_flags INTERFACE -fsanitize=${REDCO_SANITIZE} -fno-omit-frame-pointer -D_GLIBCXX_ASSERTIONS)
  target_link_options(redco_flags INTERFACE -fsanitize=${REDCO_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # With instrumentation, g++ reports uninitialised values in headers of the standard library.
    target_compile_options(redco_flags INTERFACE -Wno-maybe-uninitialized)
  endif()
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang AND REDCO_SANITIZE MATCHES thread)
    target_compile_definitions(redco_flags INTERFACE __SANITIZE_THREAD__)  # as g++ defines it
  endif()
  if(REDCO_SANITIZE MATCHES undefined)
    target_compile_options(redco_flags INTERFACE -fno-sanitize=vptr -fno-sanitize-recover=all)
  endif()
endif()

# Flags for programs that are compiled more often than they run: less optimisation. From g++ 13 on,
# a precompiled header and its users must agree on two flags that -O2 sets on x86.
include(CheckCXXCompilerFlag)
check_cxx_compiler_flag(-munroll-only-small-loops REDCO_HAS_UNROLL_ONLY_SMALL_LOOPS)
set(redco_quick_flags -O1)
if(REDCO_HAS_UNROLL_ONLY_SMALL_LOOPS)
  list(APPEND redco_quick_flags -munroll-only-small-loops -mvzeroupper)
endif()
add_library(redco_quick INTERFACE)
target_compile_options(redco_quick INTERFACE $<$<CONFIG:Release>:${redco_quick_flags}>)

# Adds one program for each source file of the folder, named after the file. scripts/demo builds
# language_modeling in a new tree, so this program does without files that take long to compile:
# those beyond redco::core, and the precompiled header of all programs.
function(redco_programs folder)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${folder})
    if(name STREQUAL "language_modeling")
      target_link_libraries(${name} PRIVATE redco_flags redco::core)
      target_precompile_headers(${name} REUSE_FROM redco_torch_pch)
    else()
      target_link_libraries(${name} PRIVATE redco_flags redco::compiled)
      redco_precompiled(${name})
    endif()
  endforeach()
endfunction()

# All programs of the project share the compiled libraries. tests/odr and tests/consume show that
# the headers work without them.
foreach(name compiled plan_compiled core plan_core torch_pch program_pch)
  target_link_libraries(redco_${name} PRIVATE redco_flags)
endforeach()

# Rooms that read options and configurations, list files and format text: they run for milliseconds
# in a training. They are not optimised, because that takes two thirds of their compile time.
foreach(room IN ITEMS options pretrained report workdir)
  set_property(SOURCE ${PROJECT_BINARY_DIR}/redco_compiled/${room}.cpp APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Release>:-O0>)
endforeach()

if(REDCO_EXAMPLES)
  redco_programs(examples)
endif()
if(REDCO_BENCHMARKS)
  redco_programs(benchmarks)
  foreach(name IN ITEMS accuracy large layouts table1 verify)  # they count and do not time
    target_link_libraries(${name} PRIVATE redco_quick)
  endforeach()
  add_custom_target(paper_table COMMAND table1 --measured ${PROJECT_BINARY_DIR} USES_TERMINAL VERBATIM)
endif()
# Programs for users. redco-plan and redco-tokenize do not link libtorch. To measure the machine,
# redco-plan runs redco-calibrate from the same folder.
if(REDCO_TOOLS)
  add_executable(redco-plan ${PROJECT_SOURCE_DIR}/tools/redco-plan.cpp)
  set_target_properties(redco-plan PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tools)
  target_link_libraries(redco-plan PRIVATE redco_flags redco::plan_compiled)
  # Code for many models; the library does the computing
  target_compile_options(redco-plan PRIVATE $<$<CONFIG:Release>:-O0>)
  add_executable(redco-calibrate ${PROJECT_SOURCE_DIR}/tools/redco-calibrate.cpp)
  set_target_properties(redco-calibrate PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tools)
  target_link_libraries(redco-calibrate PRIVATE redco_flags redco::compiled)
  redco_precompiled(redco-calibrate)
  add_executable(redco-tokenize ${PROJECT_SOURCE_DIR}/tools/redco-tokenize.cpp)
  set_target_properties(redco-tokenize PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tools)
  target_link_libraries(redco-tokenize PRIVATE redco_flags redco::plan_compiled)
  if(REDCO_INSTALL)
    install(PROGRAMS $<TARGET_FILE:redco-plan> $<TARGET_FILE:redco-calibrate> $<TARGET_FILE:redco-tokenize> DESTINATION ${CMAKE_INSTALL_BINDIR} OPTIONAL)
    # If libtorch is in the source tree, redco-calibrate is linked with two search paths. The
    # installation keeps the one of the folder to which the user links a libtorch.
    if(redco_torch_is_ours)
      file(RELATIVE_PATH redco_libraries_from_bin "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")
      set(redco_torch_of_bin "$ORIGIN/${redco_libraries_from_bin}/redco/torch/lib")
      set_target_properties(redco-calibrate PROPERTIES BUILD_RPATH "${redco_torch_of_bin}")
      install(CODE "
        set(installed \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/redco-calibrate\")
        if(EXISTS \"\${installed}\")
          file(RPATH_SET FILE \"\${installed}\" NEW_RPATH \"\\${redco_torch_of_bin}\")
        endif()")
    endif()
  endif()
endif()

# Fuzz targets for clang++. Run one with its corpus folder as argument.
if(REDCO_FUZZ)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/fuzz/*.cpp)
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME_WE)
    add_executable(fuzz_${name} ${source})
    set_target_properties(fuzz_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
    target_compile_options(fuzz_${name} PRIVATE -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer,address,undefined)
    target_link_libraries(fuzz_${name} PRIVATE redco_flags redco::plan)
  endforeach()
endif()
