# Compiles nccl_header.cpp against NCCL's own header.
#   cmake -DCXX=COMPILER -DROOT=DIR -DNCCL=DIR -DCUDA=DIR -P nccl_header.cmake

cmake_minimum_required(VERSION 3.25)
include("${ROOT}/cmake/Skip.cmake")
if(NOT NCCL OR NOT EXISTS "${CUDA}/cuda_runtime.h")
  skip("no nccl.h, or no cuda_runtime.h in libtorch's wheels: scripts/setup --tests, then configure again")
  return()
endif()
execute_process(COMMAND "${CXX}" -std=c++20 -fsyntax-only -I "${ROOT}/include" -isystem "${NCCL}" -isystem "${CUDA}"
  "${CMAKE_CURRENT_LIST_DIR}/nccl_header.cpp" RESULT_VARIABLE result ERROR_VARIABLE errors)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "NCCL's header and detail/nccl_api.hpp differ:\n${errors}")
endif()
message("our declarations are those of ${NCCL}/nccl.h")
