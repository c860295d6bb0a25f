# Links programs of two files and the compiled libraries. Files with the library's macros link, and
# the macros of optional libraries make no difference. A file with other macros must not link, and
# the linker's error must contain the name of the mistake.
#   cmake -DROOT= -DBUILD= -DWORK= "-DCOMPILERS=clang++;g++" "-DFLAGS=include flags of libtorch"
#     -P mixed.cmake
# COMPILERS: the compiler of the libraries comes first.

cmake_minimum_required(VERSION 3.25)
list(REMOVE_DUPLICATES COMPILERS)
set(source ${CMAKE_CURRENT_LIST_DIR}/mixed.cpp)
set(plan_library ${BUILD}/libredco_plan_core.a)
set(flags -std=c++20 -O2 -ffunction-sections -fdata-sections -I${ROOT}/include)
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})

# object(NAME flag...): compiles the source to ${WORK}/NAME.o.
function(object name)
  execute_process(COMMAND ${compiler} ${flags} ${ARGN} -c ${source} -o ${WORK}/${name}.o COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# links(SYMBOL OBJECT... [LIBRARIES file...]): the objects must link if SYMBOL is empty. Otherwise
# they must not, and the error must contain SYMBOL.
function(links symbol)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LIBRARIES;FLAGS")
  list(TRANSFORM arg_UNPARSED_ARGUMENTS REPLACE "(.+)" "${WORK}/\\1.o" OUTPUT_VARIABLE objects)
  execute_process(COMMAND ${compiler} ${arg_FLAGS} ${objects} ${arg_LIBRARIES} -Wl,--gc-sections -o ${WORK}/program
    RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if((symbol STREQUAL "" AND NOT status EQUAL 0) OR (NOT symbol STREQUAL "" AND (status EQUAL 0 OR NOT out MATCHES "${symbol}")))
    list(JOIN arg_UNPARSED_ARGUMENTS " and " objects)
    message(FATAL_ERROR "${compiler}: ${objects} link with status ${status}; expected in the error: '${symbol}'\n${out}")
  endif()
endfunction()

foreach(compiler IN LISTS COMPILERS)
  find_program(found_${compiler} ${compiler})
  if(NOT found_${compiler})
    continue()
  endif()
  set(compiled -DREDCO_COMPILED)
  object(main ${compiled} -DWITH_MAIN)
  object(compiled ${compiled})
  links("" main compiled LIBRARIES ${plan_library})

  object(other ${compiled} -fsanitize=thread)
  links("needs_redco_compiled::.*with_thread_sanitizer" main other LIBRARIES ${plan_library} FLAGS -fsanitize=thread)

  # Header-only files link with each other, but not with files that use the compiled library.
  object(header_only_main -DWITH_MAIN)
  object(header_only)
  links("" header_only_main header_only)
  links(in_every_file_or_none main header_only LIBRARIES ${plan_library})
  links(in_every_file_or_none header_only_main compiled LIBRARIES ${plan_library})
endforeach()

# Only definitions depend on optional libraries, so a file with the macros of all of them links.
list(GET COMPILERS 0 compiler)
object(ranks -DREDCO_COMPILED -DREDCO_WITH_MPI -DREDCO_WITH_PCRE2 -DREDCO_WITH_SENTENCEPIECE -DREDCO_WITH_MINJA -DWITH_RANKS ${FLAGS})
links("" main ranks LIBRARIES ${BUILD}/libredco_core.a ${plan_library})
