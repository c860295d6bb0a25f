# redco::compiled and redco::plan_compiled: redco::redco and redco::plan whose functions that are no templates are compiled
# once, in the build of whoever links them, with its compiler and flags, instead of in each translation unit.

include_guard(GLOBAL)
include("${CMAKE_CURRENT_LIST_DIR}/Rooms.cmake")

# One source file for each of the rooms that have definitions, include/redco/ROOM/**/*.inl.hpp, and one for what a room
# instantiates for our families.
function(redco_compiled_sources result include)
  set(sources "")
  foreach(room IN LISTS ARGN)
    file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${include}" "${include}/redco/${room}/*.inl.hpp")
    if(headers)
      list(TRANSFORM headers REPLACE "(.+)" "#include <\\1>\n")
      list(JOIN headers "" ${room})
      list(APPEND sources ${room})
    endif()
    if(EXISTS "${include}/redco/${room}/families.hpp")
      set(${room}_families "#define REDCO_COMPILES_FAMILIES\n#include <redco/${room}/families.hpp>\n")
      list(APPEND sources ${room}_families)
    endif()
  endforeach()
  foreach(name IN LISTS sources)
    file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/redco_compiled/${name}.cpp" CONTENT "${${name}}" @ONLY)
  endforeach()
  list(TRANSFORM sources REPLACE "(.+)" "${PROJECT_BINARY_DIR}/redco_compiled/\\1.cpp")
  set(${result} ${sources} PARENT_SCOPE)
endfunction()

# redco_precompiled(TARGET): a target that links redco::compiled reads redco/train.hpp and redco/pretrained.hpp, and with them
# libtorch, from one precompiled header, whatever it includes of them. It needs the flags of redco::compiled.
function(redco_precompiled target)
  target_precompile_headers(${target} REUSE_FROM redco_program_pch)
endfunction()

# What a compiled library fits: one compiler, one libtorch.
function(redco_compiled_for result)
  string(REGEX MATCH "^[0-9]+" version "${CMAKE_CXX_COMPILER_VERSION}")
  file(REAL_PATH "${redco_torch_found}" torch)
  set(${result} "${CMAKE_CXX_COMPILER_ID} ${version}, ${torch}" PARENT_SCOPE)
endfunction()

# redco_add_compiled(INCLUDE [LIBRARIES FOLDER] [ROOMS ROOM...]): the rooms that are named, else all. Libraries that fit lie in the
# folder of an installed package; then nothing is compiled.
function(redco_add_compiled include)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LIBRARIES" "ROOMS")
  set(made_for "")
  if(arg_LIBRARIES AND EXISTS "${arg_LIBRARIES}/redco_compiled.txt")
    file(READ "${arg_LIBRARIES}/redco_compiled.txt" made_for)
  endif()
  redco_compiled_for(wanted)
  if(NOT arg_ROOMS)
    set(arg_ROOMS ${REDCO_ROOMS})
  endif()
  list(JOIN arg_ROOMS "|" wanted_rooms)

  # libtorch is read once, for all rooms below the torch line.
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/redco_compiled/torch_pch.cpp" CONTENT "extern int redco_torch_pch;\n")
  add_library(redco_torch_pch OBJECT EXCLUDE_FROM_ALL "${PROJECT_BINARY_DIR}/redco_compiled/torch_pch.cpp")
  target_link_libraries(redco_torch_pch PRIVATE redco::redco)
  target_precompile_headers(redco_torch_pch PRIVATE <redco/tensor/torch.hpp>)

  # And what programs include, for them: redco_precompiled(TARGET).
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/redco_compiled/program_pch.cpp" CONTENT "extern int redco_program_pch;\n")
  add_library(redco_program_pch OBJECT EXCLUDE_FROM_ALL "${PROJECT_BINARY_DIR}/redco_compiled/program_pch.cpp")
  target_link_libraries(redco_program_pch PRIVATE redco::redco)
  target_compile_definitions(redco_program_pch PRIVATE REDCO_COMPILED)
  target_precompile_headers(redco_program_pch PRIVATE <redco/tensor/torch.hpp> <redco/train.hpp> <redco/pretrained.hpp>)
  set_target_properties(redco_torch_pch redco_program_pch PROPERTIES CXX_EXTENSIONS OFF)

  if(made_for STREQUAL wanted)
    foreach(name compiled plan_compiled)
      add_library(redco_${name} STATIC IMPORTED GLOBAL)
      set_target_properties(redco_${name} PROPERTIES IMPORTED_LOCATION "${arg_LIBRARIES}/libredco_${name}.a")
    endforeach()
  else()
    foreach(part plan torch)
      string(TOUPPER ${part} upper)
      set(rooms ${REDCO_${upper}_ROOMS})
      list(FILTER rooms INCLUDE REGEX "^(${wanted_rooms})$")
      redco_compiled_sources(${part}_sources "${include}" ${rooms})
    endforeach()
    add_library(redco_plan_compiled STATIC EXCLUDE_FROM_ALL ${plan_sources})
    target_link_libraries(redco_plan_compiled PRIVATE redco::plan)
    add_library(redco_compiled STATIC EXCLUDE_FROM_ALL ${torch_sources})
    target_link_libraries(redco_compiled PRIVATE redco::redco)
    target_precompile_headers(redco_compiled REUSE_FROM redco_torch_pch)
    foreach(name compiled plan_compiled)
      set_target_properties(redco_${name} PROPERTIES CXX_EXTENSIONS OFF)
      target_compile_definitions(redco_${name} PRIVATE REDCO_COMPILED)
    endforeach()
  endif()
  target_link_libraries(redco_plan_compiled INTERFACE redco::plan)
  target_link_libraries(redco_compiled INTERFACE redco_plan_compiled redco::redco)
  foreach(name compiled plan_compiled)
    target_compile_definitions(redco_${name} INTERFACE REDCO_COMPILED)
    add_library(redco::${name} ALIAS redco_${name})
  endforeach()
endfunction()
