# Third-party headers as targets, for the build and for the installed package. No package files are
# needed: headers and libraries are found in standard folders, in CMAKE_PREFIX_PATH and in hints of
# the user such as <NAME>_ROOT.
#   redco::dependencies   Boost.Hana, range-v3, cereal, CLI11, nlohmann-json, stb (SYSTEM: no
#                         warnings)
#   redco::xxhash, redco::utf8proc
#   redco::text_libraries PCRE2, SentencePiece and minja (SYSTEM: no warnings); REDCO_WITH_<NAME> is
#                         defined if found
#   redco::processes      MPI; REDCO_WITH_MPI is defined if found
# Header-only targets compile with text_libraries and processes. So do the two files of the compiled
# libraries that redco_optional_library names, and no other file.

include_guard(GLOBAL)

function(redco_find_header variable header package)
  find_path(${variable} ${header} DOC "Folder that contains ${header}")
  mark_as_advanced(${variable})
  if(NOT ${variable})
    message(FATAL_ERROR "redco: <${header}> not found. Run scripts/setup, or install ${package} (Debian package), "
      "or give its include folder with -D${variable}=DIR")
  endif()
endfunction()

redco_find_header(REDCO_HANA_INCLUDE boost/hana.hpp libboost-dev)
redco_find_header(REDCO_RANGES_INCLUDE range/v3/all.hpp librange-v3-dev)
redco_find_header(REDCO_CEREAL_INCLUDE cereal/cereal.hpp libcereal-dev)
redco_find_header(REDCO_CLI11_INCLUDE CLI/CLI.hpp libcli11-dev)
redco_find_header(REDCO_NLOHMANN_INCLUDE nlohmann/json.hpp nlohmann-json3-dev)
redco_find_header(REDCO_STB_INCLUDE stb/stb_image_write.h libstb-dev)
set(redco_includes ${REDCO_HANA_INCLUDE} ${REDCO_RANGES_INCLUDE} ${REDCO_CEREAL_INCLUDE} ${REDCO_CLI11_INCLUDE}
  ${REDCO_NLOHMANN_INCLUDE} ${REDCO_STB_INCLUDE})
list(REMOVE_DUPLICATES redco_includes)
add_library(redco::dependencies INTERFACE IMPORTED GLOBAL)
# From version 18 on, clang++ writes a template's constraints into its symbol name. g++ built
# libtorch without them in its symbols.
target_compile_options(redco::dependencies INTERFACE
  $<$<AND:$<CXX_COMPILER_ID:Clang>,$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,18>>:-fclang-abi-compat=17>)
target_include_directories(redco::dependencies SYSTEM INTERFACE ${redco_includes})
unset(redco_includes)

# redco_require(name header library package): finds a compiled library and adds redco::name.
function(redco_require name header library package)
  string(TOUPPER ${name} upper)
  redco_find_header(REDCO_${upper}_INCLUDE ${header} ${package})
  find_library(REDCO_${upper}_LIBRARY ${library})
  mark_as_advanced(REDCO_${upper}_LIBRARY)
  if(NOT REDCO_${upper}_LIBRARY)
    message(FATAL_ERROR "redco: lib${library} not found. Run scripts/setup, or install ${package} (Debian package)")
  endif()
  add_library(redco::${name} INTERFACE IMPORTED GLOBAL)
  target_include_directories(redco::${name} SYSTEM INTERFACE ${REDCO_${upper}_INCLUDE})
  target_link_libraries(redco::${name} INTERFACE ${REDCO_${upper}_LIBRARY})
endfunction()
redco_require(xxhash xxhash.h xxhash libxxhash-dev)
redco_require(utf8proc utf8proc.h utf8proc libutf8proc-dev)

# Finds an optional library. Without it, the code in tokenizer/ or comm/ that needs it throws an
# error that names the package to install.
#   redco_find_optional(target NAME header library package [HINTS folder ...])
function(redco_find_optional target name header library package)
  cmake_parse_arguments(PARSE_ARGV 5 arg "" "" HINTS)
  find_path(REDCO_${name}_INCLUDE ${header} HINTS ${arg_HINTS} PATH_SUFFIXES include
    DOC "Folder that contains ${header}")
  find_library(REDCO_${name}_LIBRARY ${library} HINTS ${arg_HINTS} PATH_SUFFIXES lib
    DOC "Optional library; if it is not found, functions that need ${name} throw an error")
  mark_as_advanced(REDCO_${name}_INCLUDE REDCO_${name}_LIBRARY)
  if(REDCO_${name}_INCLUDE AND REDCO_${name}_LIBRARY)
    target_include_directories(${target} SYSTEM INTERFACE ${REDCO_${name}_INCLUDE})
    target_link_libraries(${target} INTERFACE ${REDCO_${name}_LIBRARY})
    target_compile_definitions(${target} INTERFACE REDCO_WITH_${name})
  else()
    message(STATUS "redco: optional ${name} not found, so it is not used (Debian package: ${package})")
  endif()
endfunction()
add_library(redco::text_libraries INTERFACE IMPORTED GLOBAL)
redco_find_optional(redco::text_libraries PCRE2 pcre2.h pcre2-8 libpcre2-dev)
redco_find_optional(redco::text_libraries SENTENCEPIECE sentencepiece_processor.h sentencepiece libsentencepiece-dev)
# minja is one header, which scripts/setup downloads and which is installed with redco's headers.
find_path(REDCO_MINJA_INCLUDE minja/minja.hpp HINTS "${CMAKE_CURRENT_LIST_DIR}/../.deps/minja/include"
  "${CMAKE_CURRENT_LIST_DIR}/../../../include" DOC "Folder that contains minja/minja.hpp")
mark_as_advanced(REDCO_MINJA_INCLUDE)
if(REDCO_MINJA_INCLUDE)
  target_include_directories(redco::text_libraries SYSTEM INTERFACE ${REDCO_MINJA_INCLUDE})
  target_compile_definitions(redco::text_libraries INTERFACE REDCO_WITH_MINJA)
else()
  message(STATUS "redco: optional minja not found, so chat templates are not read (scripts/setup downloads it)")
endif()

# MPI is searched in the folder of mpirun. Debian installs the chosen MPI under a common name.
add_library(redco::processes INTERFACE IMPORTED GLOBAL)
find_program(REDCO_MPIRUN mpirun DOC "Program that starts processes of MPI")
mark_as_advanced(REDCO_MPIRUN)
cmake_path(GET REDCO_MPIRUN PARENT_PATH redco_mpi_prefix)
redco_find_optional(redco::processes MPI mpi.h mpi libopenmpi-dev
  HINTS "/usr/include/${CMAKE_CXX_LIBRARY_ARCHITECTURE}/mpi" "${redco_mpi_prefix}/..")
unset(redco_mpi_prefix)
