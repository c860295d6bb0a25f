# Settings for building redco itself. A project that uses redco decides them for itself.

set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_EXTENSIONS OFF)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type: Debug or Release" FORCE)
endif()

# ccache reuses objects that were compiled with a precompiled header only if this option says that
# the code does not use __TIME__.
find_program(REDCO_CCACHE ccache)
mark_as_advanced(REDCO_CCACHE)
if(REDCO_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${REDCO_CCACHE})
endif()

# A translation unit with libtorch takes up to 1.5 GB, so there are at most as many jobs as cores,
# and as many as fit into memory.
cmake_host_system_information(RESULT redco_memory QUERY TOTAL_PHYSICAL_MEMORY)
cmake_host_system_information(RESULT redco_cores QUERY NUMBER_OF_LOGICAL_CORES)
math(EXPR redco_jobs "${redco_memory} / 2000")
if(redco_jobs GREATER redco_cores)
  set(redco_jobs ${redco_cores})
endif()
if(redco_jobs LESS 1)
  set(redco_jobs 1)
endif()
set_property(GLOBAL PROPERTY JOB_POOLS compile=${redco_jobs})
set(CMAKE_JOB_POOL_COMPILE compile)
set(CMAKE_JOB_POOL_LINK compile)
set(CMAKE_JOB_POOL_PRECOMPILE_HEADER compile)
