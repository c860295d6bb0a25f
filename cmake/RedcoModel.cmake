# redco_add_model turns a Hugging Face config.json into a constexpr model, for static_asserts, shard
# reports and programs of one size.
#
#   redco_add_model(TARGET app NAME gpt2_large CONFIG path/config.json)
#
#   TARGET   target that includes <redco_models/NAME.hpp>, which defines
#            `constexpr redco::gpt2 NAME{...}` or a model of another family
#   NAME     name of the header and of the object in it
#   CONFIG   the file; CMake configures again if it changes, and stops if it is not supported
#
# For a shard report of the model: HEADER redco_models/NAME.hpp INCLUDES
# ${CMAKE_CURRENT_BINARY_DIR}.

include_guard(GLOBAL)

# Builds the program that reads configurations, once per build folder.
function(redco_model_writer result)
  set(program "${CMAKE_BINARY_DIR}/redco_model_writer")
  set(source "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/model_header.cpp")
  get_target_property(headers redco::plan_headers HEADER_DIRS)
  get_target_property(includes redco::plan_headers INTERFACE_INCLUDE_DIRECTORIES)
  get_target_property(libraries redco::dependencies INTERFACE_INCLUDE_DIRECTORIES)
  set(folders)
  foreach(folder IN LISTS headers includes libraries)
    string(REGEX REPLACE "^\\$<BUILD_INTERFACE:(.*)>$" "\\1" folder "${folder}")
    if(IS_DIRECTORY "${folder}")
      list(APPEND folders "${folder}")
    endif()
  endforeach()
  if(NOT EXISTS "${program}" OR "${source}" IS_NEWER_THAN "${program}")
    message(STATUS "redco: compiles the program that reads config.json files")
    try_compile(compiled SOURCES "${source}" COPY_FILE "${program}" CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${folders}"
      CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON OUTPUT_VARIABLE output)
    if(NOT compiled)
      message(FATAL_ERROR "redco_add_model: the program that reads config.json files does not compile:\n${output}")
    endif()
  endif()
  set(${result} "${program}" PARENT_SCOPE)
endfunction()

function(redco_add_model)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TARGET;NAME;CONFIG" "")
  set(where "redco_add_model(${arg_NAME})")
  if(arg_UNPARSED_ARGUMENTS)
    list(JOIN arg_UNPARSED_ARGUMENTS " " text)
    message(FATAL_ERROR "${where}: unknown argument '${text}'; the arguments are TARGET, NAME and CONFIG")
  endif()
  foreach(name TARGET NAME CONFIG)
    if("${arg_${name}}" STREQUAL "")
      message(FATAL_ERROR "${where}: ${name} is missing; write TARGET app NAME gpt2_large CONFIG path/config.json")
    endif()
  endforeach()
  if(NOT TARGET ${arg_TARGET})
    message(FATAL_ERROR "${where}: there is no target ${arg_TARGET}; add it before its models")
  elseif(NOT arg_NAME MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
    message(FATAL_ERROR "${where}: NAME becomes a C++ name; use letters, digits and '_', and begin with a letter or '_'")
  endif()
  get_filename_component(config "${arg_CONFIG}" ABSOLUTE)
  if(NOT EXISTS "${config}")
    message(FATAL_ERROR "${where}: CONFIG ${arg_CONFIG} does not exist; give the config.json of a model")
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${config}")

  redco_model_writer(program)
  execute_process(COMMAND "${program}" "${config}" ${arg_NAME} OUTPUT_VARIABLE text ERROR_VARIABLE why RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    string(STRIP "${why}" why)
    message(FATAL_ERROR "${where}: ${why}")
  endif()
  file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/redco_models/${arg_NAME}.hpp" CONTENT "${text}" @ONLY)
  target_include_directories(${arg_TARGET} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}")
endfunction()
