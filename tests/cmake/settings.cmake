# Settings of the tests: prefix of their names, rooms, environment.

set(redco_prefix "")
set(redco_environment "")
set(redco_launcher "")
if(REDCO_SANITIZE MATCHES address)
  set(redco_prefix asan.)
elseif(REDCO_SANITIZE MATCHES thread)
  set(redco_prefix tsan.)
  # An older ThreadSanitizer cannot map its memory if the kernel randomises more address bits than
  # it expects.
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/tsan_probe.cpp CONTENT "int main() {}\n")
  try_run(redco_tsan_runs redco_tsan_builds SOURCES ${PROJECT_BINARY_DIR}/tsan_probe.cpp
    COMPILE_DEFINITIONS -fsanitize=thread LINK_OPTIONS -fsanitize=thread)
  if(NOT redco_tsan_runs EQUAL 0)
    set(redco_launcher setarch --addr-no-randomize)
  endif()
endif()

if(NOT REDCO_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  set(redco_prefix gcc.)
endif()

# The rooms to test, and the switch for the tests of the build itself.
set(redco_rooms ${REDCO_TEST_ROOMS})
set(redco_build_tests OFF)
if(NOT redco_rooms)
  set(redco_rooms ${REDCO_ROOMS} walls parity races)
  if(NOT REDCO_SANITIZE)
    set(redco_build_tests ON)
  endif()
endif()

# libtorch is not instrumented. Memory that it allocates for the life of the process is not a leak
# of ours, and ThreadSanitizer sees only half of its synchronisation.
set(redco_plan_environment "UBSAN_OPTIONS=print_stacktrace=1")
# Threads that wait sleep, as in redco's programs, because tests run concurrently.
set(redco_torch_environment "${redco_plan_environment};OMP_WAIT_POLICY=passive;ASAN_OPTIONS=detect_leaks=0;\
TSAN_OPTIONS=suppressions=${CMAKE_CURRENT_SOURCE_DIR}/tsan.supp halt_on_error=0 exitcode=66")

# Files of tests/ that a target compiles; CheckTests.cmake compares them with the folder
set(redco_built)
