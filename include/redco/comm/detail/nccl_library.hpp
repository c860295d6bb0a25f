#pragma once

#include <redco/comm/detail/nccl_api.hpp>

#include <memory>
#include <string>

namespace redco::comm::detail {

/// NCCL's functions, of a shared library that is opened at run time and stays open.
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

  /// Errors: exit code 64 where there is no such library, or it is too old or no NCCL, with what to install.
  static std::shared_ptr<nccl_library const> open(std::string const& path);

  /// The one that the process has: that of libtorch, or what REDCO_NCCL names. Opened when it is first asked for.
  static std::shared_ptr<nccl_library const> of_process();

  /// "invalid usage (what NCCL knows of it)"
  std::string words_of(nccl::result what, nccl::communicator where) const;
};

}  // namespace redco::comm::detail

#ifndef REDCO_COMPILED
#include <redco/comm/detail/nccl_library.inl.hpp>
#endif
