# redco::torch: libtorch_cpu and libc10. They are found without find_package(Torch), which fails for
# a CUDA wheel on a machine without the CUDA toolkit. CUDA kernels are loaded at run time. Searched
# in this order: REDCO_TORCH_ROOT (cache, then environment), .deps/python/torch of this project,
# torch of the active Python.

include_guard(GLOBAL)

function(redco_torch_root result)
  set(wanted "${REDCO_TORCH_ROOT}")
  if(NOT wanted)
    set(wanted "$ENV{REDCO_TORCH_ROOT}")
  endif()
  if(wanted)
    get_filename_component(wanted "${wanted}" ABSOLUTE)
    if(NOT EXISTS "${wanted}/lib/libtorch_cpu.so" OR NOT EXISTS "${wanted}/include/ATen/ATen.h")
      message(FATAL_ERROR "redco: REDCO_TORCH_ROOT=${wanted} has no lib/libtorch_cpu.so and include/ATen/ATen.h: "
        "give the folder that has both")
    endif()
    set(${result} "${wanted}" PARENT_SCOPE)
    return()
  endif()
  foreach(base IN LISTS ARGN)
    if(EXISTS "${base}/.deps/python/torch/lib/libtorch_cpu.so")
      set(${result} "${base}/.deps/python/torch" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  # find_spec does not import torch, because the import takes seconds.
  execute_process(
    COMMAND python3 -c "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
    OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
  if(status EQUAL 0 AND EXISTS "${found}/lib/libtorch_cpu.so")
    set(${result} "${found}" PARENT_SCOPE)
    return()
  endif()
  message(FATAL_ERROR "redco: libtorch not found. Run scripts/setup, or set REDCO_TORCH_ROOT to a folder with lib/libtorch_cpu.so "
    "and include/ATen/ATen.h, or activate a Python that has torch 2.11 or newer")
endfunction()

redco_torch_root(redco_torch_found ${REDCO_TORCH_BASES})

set(redco_torch_version)
foreach(header torch/headeronly/version.h torch/csrc/api/include/torch/version.h)
  if(EXISTS "${redco_torch_found}/include/${header}")
    file(STRINGS "${redco_torch_found}/include/${header}" redco_lines
      REGEX "#define TORCH_VERSION_(MAJOR|MINOR|PATCH) +[0-9]+")
    if(redco_lines MATCHES "MAJOR +([0-9]+).*MINOR +([0-9]+).*PATCH +([0-9]+)")
      set(redco_torch_version "${CMAKE_MATCH_1}.${CMAKE_MATCH_2}.${CMAKE_MATCH_3}")
      break()
    endif()
  endif()
endforeach()
if(redco_torch_version AND redco_torch_version VERSION_LESS 2.11)
  message(FATAL_ERROR "redco: libtorch in ${redco_torch_found} is ${redco_torch_version}; 2.11 or newer is needed")
endif()
message(STATUS "redco: libtorch ${redco_torch_version} in ${redco_torch_found}")

find_package(Threads REQUIRED)
set(redco_torch_lib "${redco_torch_found}/lib")
add_library(redco::torch INTERFACE IMPORTED GLOBAL)
target_include_directories(redco::torch SYSTEM INTERFACE
  "${redco_torch_found}/include" "${redco_torch_found}/include/torch/csrc/api/include")
target_link_libraries(redco::torch INTERFACE "${redco_torch_lib}/libtorch_cpu.so" "${redco_torch_lib}/libc10.so"
  Threads::Threads)
# The loader follows libtorch's own search path to the NVIDIA libraries, the linker does not.
target_link_options(redco::torch INTERFACE "LINKER:-rpath,${redco_torch_lib}" LINKER:--allow-shlib-undefined)
