# Compiles nccl_header.cpp against NCCL's header. The script writes the CUDA declarations that
# NCCL's header uses to WORK, because libtorch's wheels have only a part of CUDA's headers.
#   cmake -DCXX=COMPILER -DROOT=DIR -DNCCL=DIR -DWORK=DIR -P nccl_header.cmake

cmake_minimum_required(VERSION 3.25)
include("${ROOT}/cmake/Skip.cmake")
if(NOT NCCL)
  skip("no nccl.h: scripts/setup --tests, then configure again")
  return()
endif()
file(WRITE "${WORK}/cuda_runtime.h" 
  "typedef struct CUstream_st* cudaStream_t;\ntypedef struct CUevent_st* cudaEvent_t;\n")
file(WRITE "${WORK}/cuda_fp16.h" "")
execute_process(COMMAND "${CXX}" -std=c++20 -fsyntax-only -I "${ROOT}/include" -isystem "${NCCL}"
  -isystem "${WORK}" "${CMAKE_CURRENT_LIST_DIR}/nccl_header.cpp" RESULT_VARIABLE result ERROR_VARIABLE errors)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "NCCL's header and detail/nccl_api.hpp differ:\n${errors}")
endif()
message("our declarations are those of ${NCCL}/nccl.h")
