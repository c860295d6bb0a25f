#pragma once

#include <redco/comm/detail/nccl_api.hpp>

#include <memory>
#include <string>

namespace redco::comm::detail {

/// A table of NCCL's functions, loaded from a shared library that is opened at run time and stays
/// open.
struct nccl_library {
  nccl::get_version* get_version;
  nccl::get_unique_id* get_unique_id;
  nccl::init_rank* init_rank;
  nccl::abort* abort;
  nccl::get_async_error* get_async_error;
  nccl::get_error_string* get_error_string;
  nccl::get_last_error* get_last_error;
  nccl::group_edge* group_start;
  nccl::group_edge* group_end;
  nccl::all_reduce* all_reduce;
  nccl::all_gather* all_gather;
  nccl::reduce_scatter* reduce_scatter;
  nccl::broadcast* broadcast;
  nccl::send* send;
  nccl::recv* recv;

  /// Opens the library at `path`. Throws `error` with exit code 64 if the library is missing, too
  /// old, or not NCCL; the message says what to install.
  static std::shared_ptr<nccl_library const> open(std::string const& path);

  /// Returns NCCL as this process uses it: the library at the path in the environment variable
  /// REDCO_NCCL, or else libtorch's libnccl.so.2. The first call opens the library.
  static std::shared_ptr<nccl_library const> of_process();

  /// Returns a description of an NCCL result for messages, such as "invalid usage (details that
  /// NCCL recorded)".
  std::string words_of(nccl::result what, nccl::communicator where) const;
};

}  // namespace redco::comm::detail

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/comm/detail/nccl_library.inl.hpp>
#endif
