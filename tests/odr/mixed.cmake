# Links programs of two files and the compiled libraries. Files with the library's macros link. A
# file with other macros must not, and the linker's error must contain the name of the mistake.
#   cmake -DROOT= -DBUILD= -DWORK= "-DCOMPILERS=clang++;g++" -DMACROS=-DREDCO_WITH_MPI;...
#     "-DFLAGS=include flags of libtorch" -P mixed.cmake
# COMPILERS: the compiler of the libraries comes first. MACROS: the macros of the libraries.

cmake_minimum_required(VERSION 3.25)
list(REMOVE_DUPLICATES COMPILERS)
set(source ${CMAKE_CURRENT_LIST_DIR}/mixed.cpp)
set(plan_library ${BUILD}/libredco_plan_compiled.a)
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
  set(compiled -DREDCO_COMPILED ${MACROS})
  object(main ${compiled} -DWITH_MAIN)
  object(compiled ${compiled})
  links("" main compiled LIBRARIES ${plan_library})

  foreach(option PCRE2 SENTENCEPIECE)
    string(TOLOWER ${option} name)
    set(other ${compiled})
    if(-DREDCO_WITH_${option} IN_LIST MACROS)
      list(REMOVE_ITEM other -DREDCO_WITH_${option})
      set(name without_${name})
    else()
      list(APPEND other -DREDCO_WITH_${option})
      set(name with_${name})
    endif()
    object(other ${other})
    links("needs_redco_compiled::.*${name}" main other LIBRARIES ${plan_library})
  endforeach()
  object(other ${compiled} -fsanitize=thread)
  links("needs_redco_compiled::.*with_thread_sanitizer" main other LIBRARIES ${plan_library} FLAGS -fsanitize=thread)

  # Header-only files link with each other, but not with files that use the compiled library.
  object(header_only_main ${MACROS} -DWITH_MAIN)
  object(header_only ${MACROS})
  links("" header_only_main header_only)
  links(in_every_file_or_none main header_only LIBRARIES ${plan_library})
  links(in_every_file_or_none header_only_main compiled LIBRARIES ${plan_library})
endforeach()

# Files that include comm/ need the library's choice of MPI; all programs of the build show that the
# same choice links. Files above the torch line do not: redco::plan lacks the macro.
list(GET COMPILERS 0 compiler)
set(other ${MACROS})
set(name with_mpi)
if(-DREDCO_WITH_MPI IN_LIST MACROS)
  list(REMOVE_ITEM other -DREDCO_WITH_MPI)
  set(name without_mpi)
else()
  list(APPEND other -DREDCO_WITH_MPI)
endif()
object(plan -DREDCO_COMPILED ${other})
links("" main plan LIBRARIES ${plan_library})
object(ranks -DREDCO_COMPILED ${other} -DWITH_RANKS ${FLAGS})
links("needs_redco_compiled::${name}" main ranks LIBRARIES ${BUILD}/libredco_compiled.a ${plan_library})
