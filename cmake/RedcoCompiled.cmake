# redco::compiled and redco::plan_compiled: redco::redco and redco::plan with their non-template
# functions compiled once instead of in each translation unit. They are compiled in the build of the
# project that links them, with its compiler and flags.
# redco::core and redco::plan_core are the same without files that take long to compile: networks
# and plans of the model families (ROOM/families.hpp), tokenizers, model folders and adapters. They
# suffice for a program that uses none of these.

include_guard(GLOBAL)
include("${CMAKE_CURRENT_LIST_DIR}/Rooms.cmake")

# Lists one source file for each room with definitions (include/redco/ROOM/**/*.inl.hpp), and one
# for the templates that a room instantiates for our model families. The folder plan/ of a room,
# which needs no torch, counts as a room: ROOM/plan.
function(redco_compiled_sources result include)
  set(sources "")
  foreach(room IN LISTS ARGN)
    file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${include}" "${include}/redco/${room}/*.inl.hpp")
    if(NOT room MATCHES "/")
      list(FILTER headers EXCLUDE REGEX "^redco/${room}/plan/")
    endif()
    # A file of its own, because the other definitions of its room need no tokenizer
    if("redco/${room}/tokenize_files.inl.hpp" IN_LIST headers)
      list(REMOVE_ITEM headers redco/${room}/tokenize_files.inl.hpp)
      set(${room}_tokenizers "#include <redco/${room}/tokenize_files.inl.hpp>\n")
      list(APPEND sources ${room}_tokenizers)
    endif()
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

# redco_add_header(NAME LIBRARY EXTENSIONS HEADER...): adds redco_NAME_pch, whose precompiled header
# of these headers other targets reuse. Compilers read a precompiled header only in its own dialect:
# with GNU extensions (ON) or without (OFF).
function(redco_add_header name library extensions)
  set(source ${PROJECT_BINARY_DIR}/pch/${name}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "extern int redco_${name}_pch;\n")
  add_library(redco_${name}_pch OBJECT EXCLUDE_FROM_ALL ${source})
  target_link_libraries(redco_${name}_pch PRIVATE ${library})
  target_precompile_headers(redco_${name}_pch PRIVATE ${ARGN})
  set_target_properties(redco_${name}_pch PROPERTIES CXX_EXTENSIONS ${extensions})
endfunction()

# redco_optional_library(TARGET ROOM LIBRARY): compiles the file of one room with the definitions
# and folders of redco::LIBRARY. Programs that link TARGET link the library, but compile without it.
function(redco_optional_library target room library)
  set(source "${PROJECT_BINARY_DIR}/redco_compiled/${room}.cpp")
  get_target_property(definitions redco::${library} INTERFACE_COMPILE_DEFINITIONS)
  get_target_property(folders redco::${library} INTERFACE_INCLUDE_DIRECTORIES)
  if(definitions)
    set_property(SOURCE "${source}" APPEND PROPERTY COMPILE_DEFINITIONS ${definitions})
  endif()
  if(folders)
    # The order of the compiler's own folders must not change.
    list(REMOVE_ITEM folders "" ${CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES})
    list(TRANSFORM folders REPLACE "(.+)" "-isystem;\\1")
    set_property(SOURCE "${source}" APPEND PROPERTY COMPILE_OPTIONS ${folders})
  endif()
  target_link_libraries(${target} INTERFACE "$<LINK_ONLY:redco::${library}>")
endfunction()

# redco_add_program_header(NAME EXTENSIONS): adds the precompiled header of programs that link
# redco::compiled.
function(redco_add_program_header name extensions)
  redco_add_header(${name} redco::headers ${extensions} <redco/tensor/torch.hpp> <redco/train.hpp> <redco/pretrained.hpp>)
  target_compile_definitions(redco_${name}_pch PRIVATE REDCO_COMPILED)
endfunction()

# redco_precompiled(TARGET): lets a target that links redco::compiled read redco/train.hpp,
# redco/pretrained.hpp and libtorch from one precompiled header. The target needs the flags of
# redco::compiled. Set its property CXX_EXTENSIONS, if at all, before this call.
function(redco_precompiled target)
  get_target_property(extensions ${target} CXX_EXTENSIONS)
  set(name program)
  if(extensions OR extensions STREQUAL "extensions-NOTFOUND")
    set(name program_gnu)
    if(NOT TARGET redco_program_gnu_pch)
      redco_add_program_header(program_gnu ON)
    endif()
  endif()
  target_precompile_headers(${target} REUSE_FROM redco_${name}_pch)
endfunction()

# Lists the optional libraries that were found, with their file: "MPI (libmpi.so.40.30.4)".
function(redco_found_parts result)
  set(text "")
  foreach(part MPI PCRE2 SENTENCEPIECE)
    if(REDCO_${part}_INCLUDE AND REDCO_${part}_LIBRARY)
      file(REAL_PATH "${REDCO_${part}_LIBRARY}" file)
      get_filename_component(file "${file}" NAME)
      list(APPEND text "${part} (${file})")
    endif()
  endforeach()
  if(REDCO_MINJA_INCLUDE)
    list(APPEND text "MINJA")
  endif()
  if(NOT text)
    set(text "no optional library")
  endif()
  list(JOIN text ", " text)
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

# Describes the builds that a compiled library fits: one compiler, one version of libtorch, the same
# optional libraries.
function(redco_compiled_for result)
  string(REGEX MATCH "^[0-9]+" version "${CMAKE_CXX_COMPILER_VERSION}")
  redco_found_parts(described)
  set(${result} "${CMAKE_CXX_COMPILER_ID} ${version}, libtorch ${redco_torch_version}, with ${described}" PARENT_SCOPE)
endfunction()

# redco_add_compiled(INCLUDE [LIBRARIES FOLDER] [ROOMS ROOM...]): adds the compiled libraries of the
# named rooms, or of all rooms. If FOLDER, from an installed package, holds libraries that fit, they
# are used and nothing is compiled.
function(redco_add_compiled include)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LIBRARIES" "ROOMS")
  set(made_for "")
  if(arg_LIBRARIES AND EXISTS "${arg_LIBRARIES}/redco_compiled.txt")
    file(READ "${arg_LIBRARIES}/redco_compiled.txt" made_for)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${arg_LIBRARIES}/redco_compiled.txt")
  endif()
  redco_compiled_for(wanted)
  if(made_for AND NOT made_for STREQUAL wanted)
    message(STATUS "redco: the installed libraries were built by ${made_for}. This project has ${wanted}, so it compiles them itself; "
      "install redco again to share them")
  endif()
  if(NOT arg_ROOMS)
    set(arg_ROOMS ${REDCO_ROOMS})
  endif()
  list(JOIN arg_ROOMS "|" wanted_rooms)

  # One precompiled header of libtorch serves all rooms below the torch line. Another serves
  # programs: redco_precompiled(TARGET).
  redco_add_header(torch redco::headers OFF <redco/tensor/torch.hpp>)
  redco_add_program_header(program OFF)

  set(libraries compiled plan_compiled core plan_core)
  if(made_for STREQUAL wanted)
    foreach(name IN LISTS libraries)
      add_library(redco_${name} STATIC IMPORTED GLOBAL)
      set_target_properties(redco_${name} PROPERTIES IMPORTED_LOCATION "${arg_LIBRARIES}/libredco_${name}.a")
    endforeach()
  else()
    # The symbols that a file with other macros lacks or contradicts (config.hpp)
    set(config "${PROJECT_BINARY_DIR}/redco_compiled/config.cpp")
    file(CONFIGURE OUTPUT "${config}" CONTENT "#include <redco/config.hpp>
char const redco::needs_redco_compiled::REDCO_SANITIZER_CHOICE::library = 0;
char const redco::needs_redco_compiled::in_every_file_or_none = 0;
" @ONLY)
    foreach(part plan torch)
      string(TOUPPER ${part} upper)
      set(rooms ${REDCO_${upper}_ROOMS})
      if(part STREQUAL plan)
        list(TRANSFORM REDCO_TORCH_ROOMS APPEND "/plan" OUTPUT_VARIABLE halves)
        list(APPEND rooms ${halves})
      endif()
      list(FILTER rooms INCLUDE REGEX "^(${wanted_rooms})(/plan)?$")
      redco_compiled_sources(${part}_sources "${include}" ${rooms})
      set(${part}_beyond_core ${${part}_sources})
      set(beyond_core "(_families|_tokenizers|/tokenizer|/pretrained|/adapt)[.]cpp$")
      list(FILTER ${part}_beyond_core INCLUDE REGEX "${beyond_core}")
      list(FILTER ${part}_sources EXCLUDE REGEX "${beyond_core}")
    endforeach()
    set(sources_of_plan_core ${plan_sources} "${config}")
    set(sources_of_core ${torch_sources})
    set(sources_of_plan_compiled ${plan_beyond_core})
    set(sources_of_compiled ${torch_beyond_core})
    foreach(name IN LISTS libraries)
      # A tree of few rooms has libraries without sources of their own, and a library needs one.
      if(NOT sources_of_${name})
        set(sources_of_${name} "${config}")
      endif()
      add_library(redco_${name} STATIC EXCLUDE_FROM_ALL ${sources_of_${name}})
      set_target_properties(redco_${name} PROPERTIES CXX_EXTENSIONS OFF)
      target_compile_definitions(redco_${name} PRIVATE REDCO_COMPILED)
    endforeach()
    foreach(name compiled core)
      target_link_libraries(redco_${name} PRIVATE redco::headers)
      target_precompile_headers(redco_${name} REUSE_FROM redco_torch_pch)
    endforeach()
    foreach(name plan_compiled plan_core)
      target_link_libraries(redco_${name} PRIVATE redco::plan_headers)
    endforeach()
    # Whoever builds redco_compiled, for example to install it, gets all four.
    target_link_libraries(redco_core PRIVATE redco_plan_core)
    target_link_libraries(redco_plan_compiled PRIVATE redco_plan_core)
    target_link_libraries(redco_compiled PRIVATE redco_plan_compiled redco_core)
  endif()
  target_link_libraries(redco_plan_core INTERFACE redco::plan_headers)
  target_link_libraries(redco_core INTERFACE redco_plan_core redco::headers)
  target_link_libraries(redco_plan_compiled INTERFACE redco_plan_core)
  target_link_libraries(redco_compiled INTERFACE redco_plan_compiled redco_core)
  redco_optional_library(redco_plan_compiled tokenizer text_libraries)
  redco_optional_library(redco_core comm processes)
  foreach(name IN LISTS libraries)
    target_compile_definitions(redco_${name} INTERFACE REDCO_COMPILED)
    add_library(redco::${name} ALIAS redco_${name})
  endforeach()
endfunction()
