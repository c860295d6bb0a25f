# redco_add_shard_report writes the shard report of a model as part of the build: bytes, messages
# and plan for each mesh. The build fails if a mesh cannot hold the model or a rank needs more
# memory than BUDGET.
#
#   redco_add_shard_report(NAME report MODEL app::model HEADER app/model.hpp MESHES 1x2 1x4
#                          OPTIMIZER adamw BATCH 8 SEQUENCE 1024 DTYPE f32 BUDGET 10GiB
#                          FORMATS md json html)
#
#   NAME        target, which is part of ALL; the files are NAME_<mesh>.<format>
#   MODEL       an object with static storage, or a type with literal sizes; declared in HEADER
#   HEADER      a header that does not include torch
#   MESHES      replicas x shards
#   BATCH, SEQUENCE   examples of a step over all replicas (default 1) and their length (default 1)
#   SOURCE      tokens of an encoder's input; default: SEQUENCE
#   OPTIMIZER   adamw (default), adam or sgd
#   DTYPE       f32 (default), bf16 or f64
#   BUDGET      bytes that a rank may hold, such as 10GiB; default: no check
#   FORMATS     of txt, md, json and html; default: md
#   MICRO_BATCH examples of a replica at once; default: all
#   MACHINE     file that redco-plan --calibrate wrote, to predict the time of a step; default: no
#               prediction
#   RECOMPUTE   blocks that are computed again in backward: all, every:2 (every second), first:3
#               (first three), range:4:8 (blocks 4 to 7, from 0)
#   OUTPUT      folder of the files; default: the current binary folder
#   INCLUDES    folders of HEADER besides the current source folder and its include/
#   LINK        targets that HEADER needs

include_guard(GLOBAL)

function(redco_add_shard_report)
  set(one NAME MODEL HEADER OPTIMIZER BATCH SEQUENCE SOURCE DTYPE BUDGET MICRO_BATCH MACHINE OUTPUT)
  set(many RECOMPUTE MESHES FORMATS INCLUDES LINK)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "${one}" "${many}")
  set(where "redco_add_shard_report(${arg_NAME})")
  macro(refuse why)
    message(FATAL_ERROR "${where}: ${why}")
  endmacro()

  if(arg_UNPARSED_ARGUMENTS)
    list(JOIN arg_UNPARSED_ARGUMENTS " " text)
    list(JOIN one " " names)
    refuse("unknown argument '${text}'; the arguments are RECOMPUTE ${names} MESHES FORMATS INCLUDES LINK")
  endif()
  set(recompute "{}")
  if(RECOMPUTE IN_LIST arg_KEYWORDS_MISSING_VALUES OR arg_RECOMPUTE STREQUAL "all")
    set(recompute true)
  elseif(arg_RECOMPUTE MATCHES "^every:([1-9][0-9]*)$")
    set(recompute "redco::recomputed_blocks::every_kth(${CMAKE_MATCH_1})")
  elseif(arg_RECOMPUTE MATCHES "^first:([1-9][0-9]*)$")
    set(recompute "redco::recomputed_blocks::first_n(${CMAKE_MATCH_1})")
  elseif(arg_RECOMPUTE MATCHES "^range:(0|[1-9][0-9]*):([1-9][0-9]*)$" AND CMAKE_MATCH_1 LESS CMAKE_MATCH_2)
    set(recompute "redco::recomputed_blocks::in_range({${CMAKE_MATCH_1}, ${CMAKE_MATCH_2}})")
  elseif(DEFINED arg_RECOMPUTE)
    refuse("RECOMPUTE '${arg_RECOMPUTE}' names no blocks; write RECOMPUTE alone, every:2 for every second block, first:3 \
for the first three, or range:4:8 for blocks 4 to 7, counted from 0")
  endif()
  list(REMOVE_ITEM arg_KEYWORDS_MISSING_VALUES RECOMPUTE)
  foreach(name IN LISTS arg_KEYWORDS_MISSING_VALUES)
    refuse("${name} has no value; write one after it, or leave ${name} out")
  endforeach()
  foreach(pair "NAME:report" "MODEL:app::model" "HEADER:app/model.hpp" "MESHES:1x2 1x4")
    string(REGEX MATCH "^[A-Z]+" name "${pair}")
    string(REGEX REPLACE "^[A-Z]+:" "" example "${pair}")
    if("${arg_${name}}" STREQUAL "")
      refuse("${name} is missing; write ${name} ${example}")
    endif()
  endforeach()
  if(NOT arg_NAME MATCHES "^[A-Za-z0-9_][A-Za-z0-9_.-]*$")
    refuse("NAME is the name of files and a target; use letters, digits, '_', '.' and '-'")
  elseif(TARGET ${arg_NAME})
    refuse("a target named ${arg_NAME} already exists; choose another NAME")
  endif()

  set(default_OPTIMIZER adamw)
  set(default_DTYPE f32)
  set(default_FORMATS md)
  set(default_BATCH 1)
  set(default_SEQUENCE 1)
  foreach(name OPTIMIZER DTYPE FORMATS BATCH SEQUENCE)
    if(NOT DEFINED arg_${name})
      set(arg_${name} ${default_${name}})
    endif()
  endforeach()
  set(known_OPTIMIZER adamw adam sgd)
  set(known_DTYPE f32 bf16 f64)
  set(known_FORMATS txt md json html)
  foreach(name OPTIMIZER DTYPE FORMATS)
    foreach(value IN LISTS arg_${name})
      if(NOT value IN_LIST known_${name})
        list(JOIN known_${name} ", " text)
        refuse("${name} '${value}' is unknown; use one of ${text}")
      endif()
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES arg_FORMATS)
  foreach(name BATCH SEQUENCE SOURCE MICRO_BATCH)
    if(DEFINED arg_${name} AND NOT arg_${name} MATCHES "^[1-9][0-9]?[0-9]?[0-9]?[0-9]?[0-9]?[0-9]?[0-9]?[0-9]?$")
      refuse("${name} '${arg_${name}}' is not a size; write a number from 1 to 999999999")
    endif()
  endforeach()
  foreach(name SOURCE MICRO_BATCH)
    if(NOT DEFINED arg_${name})
      set(arg_${name} 0)
    endif()
  endforeach()

  set(meshes)
  list(REMOVE_DUPLICATES arg_MESHES)
  foreach(mesh IN LISTS arg_MESHES)
    if(NOT mesh MATCHES "^([1-9][0-9]?[0-9]?[0-9]?)x([1-9][0-9]?[0-9]?[0-9]?)$")
      refuse("'${mesh}' in MESHES is not a mesh; write DPxTP, replicas x shards, each from 1 to 9999: 1x2 is one model \
split into two shards")
    endif()
    list(APPEND meshes "{.dp = ${CMAKE_MATCH_1}, .tp = ${CMAKE_MATCH_2}}")
  endforeach()
  list(JOIN meshes ", " meshes)

  set(budget 0)
  if(DEFINED arg_BUDGET)
    if(arg_BUDGET MATCHES "^[0-9.]+$")
      refuse("BUDGET ${arg_BUDGET} has no unit; write ${arg_BUDGET}GiB, or KiB, MiB or TiB")
    elseif(NOT arg_BUDGET MATCHES "^([1-9][0-9]?[0-9]?[0-9]?[0-9]?[0-9]?)([KMGT])iB$")
      refuse("BUDGET '${arg_BUDGET}' is not a number of bytes; write a whole number from 1 to 999999 and KiB, MiB, GiB or TiB, \
such as 10GiB")
    endif()
    set(budget ${CMAKE_MATCH_1})
    string(FIND "KMGT" ${CMAKE_MATCH_2} power)
    foreach(step RANGE ${power})
      math(EXPR budget "${budget} * 1024")
    endforeach()
  endif()

  if(DEFINED arg_MACHINE)
    get_filename_component(arg_MACHINE "${arg_MACHINE}" ABSOLUTE)
    if(NOT EXISTS "${arg_MACHINE}")
      refuse("MACHINE ${arg_MACHINE} does not exist; measure the machine: redco-plan --calibrate --machine ${arg_MACHINE}")
    endif()
  endif()

  if(NOT DEFINED arg_OUTPUT)
    set(arg_OUTPUT "${CMAKE_CURRENT_BINARY_DIR}")
  endif()
  get_filename_component(arg_OUTPUT "${arg_OUTPUT}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
  set(folders "${CMAKE_CURRENT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}/include")
  foreach(folder IN LISTS arg_INCLUDES)
    get_filename_component(folder "${folder}" ABSOLUTE)
    list(APPEND folders "${folder}")
  endforeach()
  set(found "${arg_LINK}")
  foreach(folder IN LISTS folders)
    if(EXISTS "${folder}/${arg_HEADER}")
      set(found yes)
    endif()
  endforeach()
  if(NOT found)
    refuse("HEADER ${arg_HEADER} is neither in ${CMAKE_CURRENT_SOURCE_DIR} nor in its include/; name its folder with INCLUDES, or a \
target that has it with LINK")
  endif()

  set(outputs)
  foreach(mesh IN LISTS arg_MESHES)
    foreach(format IN LISTS arg_FORMATS)
      list(APPEND outputs "${arg_OUTPUT}/${arg_NAME}_${mesh}.${format}")
    endforeach()
  endforeach()
  list(JOIN arg_FORMATS ", " formats)

  set(source "${CMAKE_CURRENT_BINARY_DIR}/${arg_NAME}_shard_report.cpp")
  configure_file("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/shard_report.cpp.in" "${source}" @ONLY)
  set(program ${arg_NAME}_shard_report)
  add_executable(${program} EXCLUDE_FROM_ALL "${source}")
  target_include_directories(${program} PRIVATE ${folders})
  target_link_libraries(${program} PRIVATE redco::plan ${arg_LINK})
  add_custom_command(OUTPUT ${outputs} COMMAND ${program} DEPENDS ${program} ${arg_MACHINE} VERBATIM
    COMMENT "Writing shard report ${arg_NAME}")
  add_custom_target(${arg_NAME} ALL DEPENDS ${outputs})
endfunction()
