# Third-party headers as targets, for the build and for the installed package alike. No package files are needed: the
# libraries are headers, found in the standard places, in CMAKE_PREFIX_PATH and in <NAME>_ROOT-like hints of the user.
#   redco::dependencies   Boost.Hana, range-v3, cereal, CLI11, nlohmann-json (SYSTEM, so their warnings are not ours)
#   redco::xxhash         xxHash
#   redco::text_libraries PCRE2 and SentencePiece, each where found, with REDCO_WITH_<NAME> defined

include_guard(GLOBAL)

function(redco_find_header variable header package)
  find_path(${variable} ${header} DOC "Folder that contains ${header}")
  mark_as_advanced(${variable})
  if(NOT ${variable})
    message(FATAL_ERROR "redco: <${header}> not found. Run scripts/setup, or install ${package} (its Debian name), "
      "or give its include folder with -D${variable}=DIR")
  endif()
endfunction()

redco_find_header(REDCO_HANA_INCLUDE boost/hana.hpp libboost-dev)
redco_find_header(REDCO_RANGES_INCLUDE range/v3/all.hpp librange-v3-dev)
redco_find_header(REDCO_CEREAL_INCLUDE cereal/cereal.hpp libcereal-dev)
redco_find_header(REDCO_CLI11_INCLUDE CLI/CLI.hpp libcli11-dev)
redco_find_header(REDCO_NLOHMANN_INCLUDE nlohmann/json.hpp nlohmann-json3-dev)
redco_find_header(REDCO_XXHASH_INCLUDE xxhash.h libxxhash-dev)
find_library(REDCO_XXHASH_LIBRARY xxhash)
mark_as_advanced(REDCO_XXHASH_LIBRARY)
if(NOT REDCO_XXHASH_LIBRARY)
  message(FATAL_ERROR "redco: libxxhash not found. Run scripts/setup, or install libxxhash-dev")
endif()

set(redco_includes ${REDCO_HANA_INCLUDE} ${REDCO_RANGES_INCLUDE} ${REDCO_CEREAL_INCLUDE} ${REDCO_CLI11_INCLUDE}
  ${REDCO_NLOHMANN_INCLUDE})
list(REMOVE_DUPLICATES redco_includes)
add_library(redco::dependencies INTERFACE IMPORTED GLOBAL)
target_include_directories(redco::dependencies SYSTEM INTERFACE ${redco_includes})
unset(redco_includes)

add_library(redco::xxhash INTERFACE IMPORTED GLOBAL)
target_include_directories(redco::xxhash SYSTEM INTERFACE ${REDCO_XXHASH_INCLUDE})
target_link_libraries(redco::xxhash INTERFACE ${REDCO_XXHASH_LIBRARY})

# Optional: without one of them its place in tokenizer/ throws an error that says what to install.
add_library(redco::text_libraries INTERFACE IMPORTED GLOBAL)
function(redco_find_optional name header library package)
  find_path(REDCO_${name}_INCLUDE ${header} DOC "Folder that contains ${header}")
  find_library(REDCO_${name}_LIBRARY ${library} DOC "Optional: without it redco does without ${name}")
  mark_as_advanced(REDCO_${name}_INCLUDE REDCO_${name}_LIBRARY)
  if(REDCO_${name}_INCLUDE AND REDCO_${name}_LIBRARY)
    target_include_directories(redco::text_libraries SYSTEM INTERFACE ${REDCO_${name}_INCLUDE})
    target_link_libraries(redco::text_libraries INTERFACE ${REDCO_${name}_LIBRARY})
    target_compile_definitions(redco::text_libraries INTERFACE REDCO_WITH_${name})
  else()
    message(STATUS "redco: without ${name} (Debian: ${package})")
  endif()
endfunction()
redco_find_optional(PCRE2 pcre2.h pcre2-8 libpcre2-dev)
redco_find_optional(SENTENCEPIECE sentencepiece_processor.h sentencepiece libsentencepiece-dev)
