#pragma once

#include <redco/comm/detail/nccl_library.hpp>

#include <redco/diag/error.hpp>
#include <redco/diag/exit_code.hpp>
#include <redco/config.hpp>

#include <cstdlib>

#include <dlfcn.h>

namespace redco::comm::detail {

REDCO_INLINE std::shared_ptr<nccl_library const> nccl_library::open(std::string const& path) {
  auto const refuse = [&](std::string const& why) {
    throw error(exit_code::usage, "ranks on several devices need NCCL from 2.18 on, and " + path + " is not it (" +
                                      why +
                                      "): install the wheel nvidia-nccl-cu13 or the package libnccl2, or name the "
                                      "library's file in REDCO_NCCL");
  };
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) refuse(dlerror());
  auto const made = std::make_shared<nccl_library>();
  auto const find = [&]<class F>(F*& function, char const* name) {
    function = reinterpret_cast<F*>(dlsym(library, name));
    if (function == nullptr) refuse(std::string("it has no ") + name);
  };
  find(made->get_version, "ncclGetVersion");
  int version = 0;
  if (made->get_version(&version) != nccl::success || version < nccl::first_version)
    refuse("it calls itself " + std::to_string(version));
  find(made->get_unique_id, "ncclGetUniqueId");
  find(made->init_rank, "ncclCommInitRankConfig");
  find(made->abort, "ncclCommAbort");
  find(made->get_async_error, "ncclCommGetAsyncError");
  find(made->get_error_string, "ncclGetErrorString");
  find(made->get_last_error, "ncclGetLastError");
  find(made->group_start, "ncclGroupStart");
  find(made->group_end, "ncclGroupEnd");
  find(made->all_reduce, "ncclAllReduce");
  find(made->all_gather, "ncclAllGather");
  find(made->reduce_scatter, "ncclReduceScatter");
  find(made->broadcast, "ncclBroadcast");
  find(made->send, "ncclSend");
  find(made->recv, "ncclRecv");
  return made;
}

REDCO_INLINE std::shared_ptr<nccl_library const> nccl_library::of_process() {
  static std::shared_ptr<nccl_library const> const one = [] {
    char const* const named = std::getenv("REDCO_NCCL");
    return open(named != nullptr ? named : "libnccl.so.2");
  }();
  return one;
}

REDCO_INLINE std::string nccl_library::words_of(nccl::result what, nccl::communicator where) const {
  char const* const last = get_last_error(where);
  std::string const known = last != nullptr ? last : "";
  return get_error_string(what) + (known.empty() ? std::string() : " (" + known + ")");
}

}  // namespace redco::comm::detail
