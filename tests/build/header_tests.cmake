# Each public header is included twice in a translation unit of its own, then its definitions in
# .inl.hpp, against declarations. Only the syntax is checked, by clang++ if it is available, because
# it reads a header several times faster than g++. The standard library, and libtorch for headers
# with tensors, are precompiled once. Text checks find missing includes of these (includes.py,
# CheckFloors.cmake). The check takes seven minutes of one core, so it is a long test: without it
# the targets alone_plan and alone_torch are built by name only.
redco_add_test(build.includes COMMAND python3 -B ${CMAKE_CURRENT_LIST_DIR}/includes.py ${PROJECT_SOURCE_DIR})
redco_add_test(build.includes_planted COMMAND python3 -B ${CMAKE_CURRENT_LIST_DIR}/includes.py ${PROJECT_SOURCE_DIR} --planted)
get_target_property(redco_torch_includes redco::torch INTERFACE_INCLUDE_DIRECTORIES)
find_program(REDCO_CLANG clang++)
mark_as_advanced(REDCO_CLANG)
set(redco_alone_compiler ${CMAKE_CXX_COMPILER})
if(REDCO_CLANG)
  set(redco_alone_compiler ${REDCO_CLANG})
endif()
set(redco_alone_flags -std=c++20 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -I${PROJECT_SOURCE_DIR}/include)

list(APPEND redco_long_names headers_alone)
# redco_alone(TARGET [PCH FILE] FLAGS flags HEADERS headers)
function(redco_alone target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PCH" "FLAGS;HEADERS")
  # Definitions and private folders are checked by the headers that include them.
  list(FILTER arg_HEADERS EXCLUDE REGEX "[.]inl[.]hpp$|/include/redco/.*/(detail|composed|cpu|cuda)/")
  set(checked)
  foreach(header IN LISTS arg_HEADERS)
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR}/include ${header})
    set(unit ${PROJECT_BINARY_DIR}/alone/${name}.cpp)
    string(REGEX REPLACE "[.]hpp$" ".inl.hpp" definitions ${name})
    set(text "#define REDCO_COMPILED\n#include <${name}>\n#include <${name}>\n")
    if(EXISTS ${PROJECT_SOURCE_DIR}/include/${definitions})
      string(APPEND text "#include <${definitions}>\n")
    endif()
    file(CONFIGURE OUTPUT ${unit} CONTENT "${text}")
    add_custom_command(OUTPUT ${unit}.checked
      COMMAND ${redco_alone_compiler} ${redco_alone_flags} ${arg_FLAGS} -fsyntax-only -MMD -MF ${unit}.d -MT ${unit}.checked ${unit}
      COMMAND ${CMAKE_COMMAND} -E touch ${unit}.checked
      DEPENDS ${unit} ${arg_PCH} DEPFILE ${unit}.d JOB_POOL compile VERBATIM)
    list(APPEND checked ${unit}.checked)
  endforeach()
  set(built "")
  if(headers_alone IN_LIST REDCO_LONG_TESTS)
    set(built ALL)
  endif()
  add_custom_target(${target} ${built} DEPENDS ${checked})
endfunction()

# redco_door(NAME TEXT flag...): makes a precompiled header of these includes; sets redco_NAME_pch
# and redco_NAME_flags.
function(redco_door name text)
  set(door ${PROJECT_BINARY_DIR}/alone/${name})
  file(CONFIGURE OUTPUT ${door}.hpp CONTENT "${text}")
  set(pch ${door}.hpp.gch)
  set(use -include ${door}.hpp)
  set(flags ${ARGN})
  if(REDCO_CLANG)
    set(pch ${door}.pch)
    set(use -include-pch ${pch})
    list(APPEND flags -Xclang -fpch-instantiate-templates)
  endif()
  add_custom_command(OUTPUT ${pch}
    COMMAND ${redco_alone_compiler} ${redco_alone_flags} ${flags} -x c++-header ${door}.hpp -o ${pch}
    DEPENDS ${PROJECT_SOURCE_DIR}/include/redco/tensor/torch.hpp ${redco_standard} ${redco_alone_compiler} ${door}.hpp
    JOB_POOL compile VERBATIM)
  set(redco_${name}_pch ${pch} PARENT_SCOPE)
  set(redco_${name}_flags ${flags} ${use} PARENT_SCOPE)
endfunction()

set(redco_standard ${CMAKE_CURRENT_LIST_DIR}/standard.hpp)
set(redco_read_once "#include \"${redco_standard}\"\n")
# Only one room includes each of them
foreach(header boost/hana/basic_tuple.hpp boost/hana/unpack.hpp nlohmann/json.hpp range/v3/range/traits.hpp)
  string(APPEND redco_read_once "#include <${header}>\n")
endforeach()
redco_door(standard "${redco_read_once}")
redco_alone(alone_plan PCH ${redco_standard_pch} FLAGS ${redco_standard_flags} HEADERS ${redco_plan_headers})

set(redco_torch_flags ${redco_torch_includes})
list(TRANSFORM redco_torch_flags PREPEND -isystem)
redco_door(torch "${redco_read_once}#include <redco/tensor/torch.hpp>\n" ${redco_torch_flags})
redco_alone(alone_torch PCH ${redco_torch_pch} FLAGS ${redco_torch_flags}
  HEADERS ${redco_torch_headers} ${redco_top_headers})
