# redco::compiled and redco::plan_compiled: redco::redco and redco::plan whose functions that are no templates are compiled
# once, in the build of whoever links them, with its compiler and flags, instead of in each translation unit.

include_guard(GLOBAL)
include("${CMAKE_CURRENT_LIST_DIR}/Rooms.cmake")

# The definitions of the rooms, include/redco/ROOM/**/*.inl.hpp, as one source file.
function(redco_compiled_source result name include)
  set(text "")
  foreach(room IN LISTS ARGN)
    file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${include}" "${include}/redco/${room}/*.inl.hpp")
    foreach(header IN LISTS headers)
      string(APPEND text "#include <${header}>\n")
    endforeach()
  endforeach()
  set(source "${PROJECT_BINARY_DIR}/redco_compiled/${name}.cpp")
  file(CONFIGURE OUTPUT "${source}" CONTENT "${text}" @ONLY)
  set(${result} "${source}" PARENT_SCOPE)
endfunction()

function(redco_add_compiled include)
  redco_compiled_source(plan plan "${include}" ${REDCO_PLAN_ROOMS})
  add_library(redco_plan_compiled STATIC EXCLUDE_FROM_ALL "${plan}")
  target_link_libraries(redco_plan_compiled PUBLIC redco::plan)

  set(rooms ${REDCO_TORCH_ROOMS})
  list(REMOVE_ITEM rooms kernel nn)
  redco_compiled_source(nn nn "${include}" kernel nn)  # half of it all, so that two cores share the work
  redco_compiled_source(torch torch "${include}" ${rooms})
  add_library(redco_compiled STATIC EXCLUDE_FROM_ALL "${nn}" "${torch}")
  target_link_libraries(redco_compiled PUBLIC redco_plan_compiled redco::redco)

  foreach(name compiled plan_compiled)
    set_target_properties(redco_${name} PROPERTIES CXX_EXTENSIONS OFF)
    target_compile_definitions(redco_${name} PUBLIC REDCO_COMPILED)
    add_library(redco::${name} ALIAS redco_${name})
  endforeach()
endfunction()
