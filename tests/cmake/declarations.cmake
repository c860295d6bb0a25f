# Compares our declarations of other libraries, which replace their headers, with these headers.

# A library with NCCL's functions between threads, which test_comm opens in place of NCCL; and the
# comparison of our declarations with NCCL's header.
list(APPEND redco_built ${CMAKE_CURRENT_SOURCE_DIR}/comm/fake_nccl.cpp ${CMAKE_CURRENT_SOURCE_DIR}/comm/nccl_header.cpp)
if(TARGET test_comm)
  add_library(fake_nccl MODULE comm/fake_nccl.cpp)
  set_target_properties(fake_nccl PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_include_directories(fake_nccl PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(fake_nccl PRIVATE redco_flags redco::redco)
  add_dependencies(test_comm fake_nccl)
  find_path(REDCO_NCCL_INCLUDE nccl.h PATHS ${PROJECT_SOURCE_DIR}/.deps/nccl NO_DEFAULT_PATH
    DOC "Folder of nccl.h, with which a test compares ours")
  mark_as_advanced(REDCO_NCCL_INCLUDE)
  redco_add_test(outside.nccl_header COMMAND ${CMAKE_COMMAND} -DCXX=${CMAKE_CXX_COMPILER} -DROOT=${PROJECT_SOURCE_DIR}
    -DNCCL=${REDCO_NCCL_INCLUDE} -DWORK=${PROJECT_BINARY_DIR}/tests/nccl_header
    -P ${CMAKE_CURRENT_SOURCE_DIR}/comm/nccl_header.cmake PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: ")
endif()

# The comparison of our declarations of libtorch's CUDA graphs with its header and library.
list(APPEND redco_built ${CMAKE_CURRENT_SOURCE_DIR}/tensor/cuda_graph_header.cpp)
if(TARGET test_tensor)
  redco_add_test(outside.cuda_graph_header COMMAND ${CMAKE_COMMAND} -DCXX=${CMAKE_CXX_COMPILER} -DROOT=${PROJECT_SOURCE_DIR}
    -DTORCH=${redco_torch_found} -DNM=${CMAKE_NM} -P ${CMAKE_CURRENT_SOURCE_DIR}/tensor/cuda_graph_header.cmake
    PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: ")
endif()
