#pragma once

#include <redco/comm/detail/nccl_link.hpp>

#include <redco/comm/detail/operand.hpp>
#include <redco/comm/detail/waiting_room.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <thread>
#include <utility>

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

REDCO_INLINE std::string nccl_library::words_of(nccl::result status, nccl::communicator where) const {
  char const* const last = get_last_error(where);
  std::string const known = last != nullptr ? last : "";
  return get_error_string(status) + (known.empty() ? std::string() : " (" + known + ")");
}

REDCO_INLINE nccl_link::nccl_link(std::shared_ptr<nccl_library const> library, std::unique_ptr<device_queue> queue)
    : library_(std::move(library)), queue_(std::move(queue)) {}

REDCO_INLINE void nccl_link::begin_join(nccl::unique_id const& id, int ranks, int rank, patience const& until) {
  nccl::config how;
  judge(library_->init_rank(&communicator_, ranks, id, rank, &how), true, until);
}

REDCO_INLINE void nccl_link::join(nccl::unique_id const& id, int ranks, int rank, patience const& until) {
  begin_join(id, ranks, rank, until);
  wait([&] { return has_joined(until); }, until);
}

REDCO_INLINE void nccl_link::begin(tensors::function_ref<void(round&)> calls, patience const& until) {
  round made{*library_, communicator_, queue_->handle()};
  made.made(library_->group_start());
  calls(made);
  made.made(library_->group_end());
  judge(made.outcome, false, until);
  is_marked_ = false;
}

REDCO_INLINE bool nccl_link::has_ended(patience const& until) {
  // The queue contains the calls only after NCCL reports success.
  bool const are_in_queue = has_come_on(false, until);
  if (are_in_queue && !std::exchange(is_marked_, true)) queue_->mark();
  return are_in_queue && queue_->reached();
}

REDCO_INLINE void nccl_link::run(tensors::function_ref<void(round&)> calls, patience const& until) {
  follow();
  begin(calls, until);
  wait([&] { return has_ended(until); }, until);
}

REDCO_INLINE void nccl_link::abort() noexcept {
  if (communicator_ != nullptr) library_->abort(std::exchange(communicator_, nullptr));
}

/// Marks the run as failed and throws if the NCCL result `status` is a failure. If the run has
/// already failed, throws its first failure instead. `joins` is true while the communicator is
/// being created.
REDCO_INLINE void nccl_link::judge(nccl::result status, bool joins, patience const& until) {
  if (!failed(status)) return;
  bool const refused = joins && (status == nccl::invalid_usage || status == nccl::invalid_argument);
  std::string const words = library_->words_of(status, communicator_);
  fail(refused                        ? exit_code::usage
       : status == nccl::remote_error ? exit_code::peer_lost
                                      : exit_code::internal,
       refused ? "does not join these devices: " + words + "; use one rank per device" : "fails: " + words, until);
}

REDCO_INLINE bool nccl_link::has_come_on(bool joins, patience const& until) {
  nccl::result state = nccl::success;
  judge(library_->get_async_error(communicator_, &state), joins, until);
  judge(state, joins, until);
  return state == nccl::success;
}

REDCO_INLINE void nccl_link::wait(tensors::function_ref<bool()> done, patience const& until) {
  using clock = std::chrono::steady_clock;
  int const spins = until.line.crowded() ? 0 : 2'000, offers = until.line.crowded() ? 50 : 4'000;
  auto end = clock::now() + until.limit;
  bool is_awaited = until.awaited >= 0;
  for (int turn = 0; !done(); ++turn) {
    if (until.line.failed()) {
      abort();
      throw until.line.cause();
    }
    if (turn < spins) {
      pause_core();
      continue;
    }
    if (is_awaited && until.line.ended(until.awaited)) {
      // Messages that the rank received before it ended are over within this time.
      end = std::min(end, clock::now() + std::chrono::milliseconds(200));
      is_awaited = false;
    }
    if (clock::now() > end && until.awaited >= 0) {
      abort();
      lose_peers(until.line, until.member, until.where, {until.awaited}, until.limit);
    }
    if (clock::now() > end)
      fail(exit_code::peer_lost,
           "did not end within " + std::to_string(until.limit.count()) +
               " ms, and all ranks had come; see what the devices and the links between them do "
               "(NCCL_DEBUG=INFO), or raise the deadline",
           until);
    if (turn < offers) std::this_thread::yield();
    else std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

REDCO_INLINE void nccl_link::fail(exit_code code, std::string const& message, patience const& until) {
  abort();
  until.line.fail(until.member, code, "NCCL " + message + "; " + until.where);
  throw until.line.cause();
}

}  // namespace redco::comm::detail
