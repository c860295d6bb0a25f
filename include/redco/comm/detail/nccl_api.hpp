#pragma once

#include <cstddef>

/// Declarations of the part of NCCL's interface that redco uses, so that redco builds without NCCL.
/// The library is opened at run time if a run has devices (nccl_link.hpp). The test
/// tests/comm/nccl_header.cpp compares every type, number and function with NCCL's own header.
namespace redco::comm::detail::nccl {

using communicator = struct opaque_communicator*;
using stream = void*;

/// NCCL's identifier of a communicator that is to be created. One rank gets the identifier from
/// NCCL and sends it to all other ranks of the communicator.
struct unique_id {
  char internal[128];
};

enum result : unsigned { success = 0, invalid_argument = 4, invalid_usage = 5, remote_error = 6, in_progress = 7 };
enum reduction : unsigned { sum = 0 };
enum data_type : unsigned { uint8 = 1, int32 = 2, int64 = 4, float16 = 6, float32 = 7, float64 = 8, bfloat16 = 9 };

/// NCCL's communicator configuration in the layout of version 2.14, which later versions accept. If
/// `blocking` is 0, no call waits for other ranks; the result `in_progress` is then not a failure.
struct config {
  std::size_t size = sizeof(config);
  unsigned magic = 0xcafebeef;
  unsigned version = 21'400;
  int blocking = 0;
};

/// First version of NCCL in which all functions below can be called without blocking.
constexpr int first_version = 21'800;

using get_version = result(int* version);
using get_unique_id = result(unique_id* id);
using init_rank = result(communicator* made, int ranks, unique_id id, int rank, config* how);
using abort = result(communicator which);
using get_async_error = result(communicator which, result* state);
using get_error_string = char const*(result of);
using get_last_error = char const*(communicator which);
using group_edge = result();
using all_reduce = result(void const* from, void* to, std::size_t count, data_type type, reduction op, communicator in,
                          stream on);
using all_gather = result(void const* from, void* to, std::size_t count_of_rank, data_type type, communicator in,
                          stream on);
using reduce_scatter = result(void const* from, void* to, std::size_t count_of_rank, data_type type, reduction op,
                              communicator in, stream on);
using broadcast = result(void const* from, void* to, std::size_t count, data_type type, int root, communicator in,
                         stream on);
using send = result(void const* from, std::size_t count, data_type type, int peer, communicator in, stream on);
using recv = result(void* to, std::size_t count, data_type type, int peer, communicator in, stream on);

}  // namespace redco::comm::detail::nccl
