// The functions of NCCL that redco uses, between threads of one process in CPU memory. Tests open
// this shared library in place of NCCL. A stream is a comm_test::cpu_stream. As in NCCL, no call
// of a non-blocking communicator waits for another rank. An enqueued operation enters its stream
// some time after the call, once its state is queried, and ends when the operations of all ranks
// have arrived. Sums are made from the last rank to the first and rounded at each step.

#include "comm/fake_nccl.hpp"
#include "comm/cpu_stream.hpp"

#include <redco/comm/detail/nccl_api.hpp>

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace nccl = redco::comm::detail::nccl;

namespace {

using comm_test::fake_counts;
using comm_test::fake_plan;
using clock_type = std::chrono::steady_clock;

enum class kind { all_reduce, all_gather, reduce_scatter, broadcast, send, recv };

/// One rank's part of an operation.
struct part {
  kind operation;
  std::byte const* from;
  std::byte* to;
  std::size_t count;
  nccl::data_type type;
  int root_or_peer;
  bool done = false;
};
using parts = std::vector<std::shared_ptr<part>>;

std::size_t bytes_of(nccl::data_type type) {
  switch (type) {
    case nccl::uint8: return 1;
    case nccl::float16:
    case nccl::bfloat16: return 2;
    case nccl::int32:
    case nccl::float32: return 4;
    default: return 8;
  }
}

template <class T>
void add_up(parts const& all, std::size_t first, std::size_t count, std::byte* to) {
  auto const element = [&](std::size_t rank, std::size_t at) {
    T value;
    std::memcpy(&value, all[rank]->from + (first + at) * sizeof(T), sizeof(T));
    return value;
  };
  std::vector<T> joint(count);
  for (std::size_t at = 0; at < count; ++at) {
    T value = element(all.size() - 1, at);
    for (std::size_t rank = all.size() - 1; rank-- > 0;) {
      value = static_cast<T>(value + element(rank, at));
    }
    joint[at] = value;
  }
  if (count != 0) std::memcpy(to, joint.data(), count * sizeof(T));
}

void add_up(parts const& all, std::size_t first, std::size_t count, std::byte* to) {
  switch (all.front()->type) {
    case nccl::uint8: return add_up<std::uint8_t>(all, first, count, to);
    case nccl::int32: return add_up<std::int32_t>(all, first, count, to);
    case nccl::int64: return add_up<std::int64_t>(all, first, count, to);
    case nccl::float16: return add_up<c10::Half>(all, first, count, to);
    case nccl::float32: return add_up<float>(all, first, count, to);
    case nccl::float64: return add_up<double>(all, first, count, to);
    case nccl::bfloat16: return add_up<c10::BFloat16>(all, first, count, to);
  }
}

void move_bytes(std::byte* to, std::byte const* from, std::size_t bytes) {
  if (bytes != 0 && to != from) std::memcpy(to, from, bytes);
}

/// State that the ranks of a communicator share. The last rank that arrives does the work while all
/// others wait.
struct clique {
  std::mutex mutex;
  std::condition_variable bell;
  int size = 0, joined = 0;
  std::map<std::uint64_t, parts> collectives;
  std::map<std::pair<int, int>, std::deque<std::shared_ptr<part>>> sends, receives;

  void do_collective(parts const& all) {
    part const& first = *all.front();
    std::size_t const element = bytes_of(first.type), ranks = all.size();
    if (first.operation == kind::all_reduce) {
      std::vector<std::byte> joint(first.count * element);
      add_up(all, 0, first.count, joint.data());
      for (auto const& one : all) move_bytes(one->to, joint.data(), joint.size());
    } else if (first.operation == kind::reduce_scatter) {
      for (std::size_t rank = 0; rank < ranks; ++rank) add_up(all, rank * first.count, first.count, all[rank]->to);
    } else if (first.operation == kind::all_gather) {
      for (auto const& one : all)
        for (std::size_t rank = 0; rank < ranks; ++rank)
          move_bytes(one->to + rank * first.count * element, all[rank]->from, first.count * element);
    } else {
      auto const root = static_cast<std::size_t>(first.root_or_peer);
      for (auto const& one : all) move_bytes(one->to, all[root]->from, first.count * element);
    }
    for (auto const& one : all) one->done = true;
  }

  void post(std::shared_ptr<part> const& mine, int rank, std::uint64_t& collective) {
    if (mine->operation == kind::send || mine->operation == kind::recv) {
      bool const sends_it = mine->operation == kind::send;
      auto const pair = sends_it ? std::pair(rank, mine->root_or_peer) : std::pair(mine->root_or_peer, rank);
      (sends_it ? sends : receives)[pair].push_back(mine);
      auto &leaving = sends[pair], &coming = receives[pair];
      while (!leaving.empty() && !coming.empty()) {
        move_bytes(coming.front()->to, leaving.front()->from, coming.front()->count);
        leaving.front()->done = coming.front()->done = true;
        leaving.pop_front();
        coming.pop_front();
      }
      return;
    }
    parts& all = collectives[++collective];
    all.resize(static_cast<std::size_t>(size));
    all[static_cast<std::size_t>(rank)] = mine;
    for (auto const& one : all)
      if (!one) return;
    do_collective(all);
    collectives.erase(collective);
  }
};

std::mutex all_mutex;
fake_plan plan;
fake_counts counts;
std::map<std::string, std::shared_ptr<clique>> cliques;

fake_plan planned() {
  std::lock_guard const lock(all_mutex);
  return plan;
}

struct launch {
  parts calls;
  comm_test::cpu_stream* on;
};

}  // namespace

struct redco::comm::detail::nccl::opaque_communicator {
  std::shared_ptr<clique> with;
  int rank = 0;
  std::uint64_t collective = 0;
  bool aborted = false;  // the clique's mutex protects collective, aborted and running
  int running = 0;
  std::vector<launch> held = {};  // launches of its rank's thread that have not entered the stream
  clock_type::time_point until = {};
};

namespace {

bool fails(char const* function, nccl::communicator in) {
  fake_plan const now = planned();
  return std::string(now.failing) == function &&
         (in == nullptr || now.failing_rank == comm_test::every_rank || now.failing_rank == in->rank);
}

void run(nccl::communicator in, parts const& calls) {
  fake_plan const now = planned();
  std::this_thread::sleep_for(std::chrono::microseconds(now.delay_us));
  std::shared_ptr<clique> const kept = in->with;  // the communicator may be destroyed at the end
  clique& with = *kept;
  std::unique_lock lock(with.mutex);
  if (!in->aborted && !now.hangs) {
    for (auto const& one : calls) with.post(one, in->rank, in->collective);
    with.bell.notify_all();
  }
  with.bell.wait(lock, [&] {
    bool all = !now.hangs;
    for (auto const& one : calls) all = all && one->done;
    return all || in->aborted;
  });
  for (auto& [pair, some] : with.sends)
    if (in->aborted && pair.first == in->rank) some.clear();
  for (auto& [pair, some] : with.receives)
    if (in->aborted && pair.second == in->rank) some.clear();
  for (auto& [number, some] : with.collectives)
    if (in->aborted) some[static_cast<std::size_t>(in->rank)] = nullptr;
  --in->running;
  with.bell.notify_all();
}

thread_local int depth = 0;
thread_local std::vector<std::pair<nccl::communicator, launch>> opened;

nccl::result add(char const* function, part const& call, nccl::communicator in, nccl::stream on) {
  if (fails(function, in)) return static_cast<nccl::result>(planned().failing_result);
  if (depth == 0) return nccl::invalid_usage;
  if (opened.empty() || opened.back().first != in)
    opened.push_back({in, {{}, static_cast<comm_test::cpu_stream*>(on)}});
  opened.back().second.calls.push_back(std::make_shared<part>(call));
  return nccl::success;
}

std::byte const* bytes_at(void const* data) { return static_cast<std::byte const*>(data); }
std::byte* bytes_at(void* data) { return static_cast<std::byte*>(data); }

}  // namespace

extern "C" {

void fake_nccl_plan(fake_plan const* next) {
  std::lock_guard const lock(all_mutex);
  plan = *next;
  counts = {.made = 0, .alive = counts.alive, .calls = 0};
}

void fake_nccl_counts(fake_counts* to) {
  std::lock_guard const lock(all_mutex);
  *to = counts;
}

nccl::result ncclGetVersion(int* version) {
  *version = nccl::first_version;
  return nccl::success;
}

nccl::result ncclGetUniqueId(nccl::unique_id* id) {
  if (fails("ncclGetUniqueId", nullptr)) return static_cast<nccl::result>(planned().failing_result);
  static int made = 0;
  std::lock_guard const lock(all_mutex);
  std::string const name = "clique " + std::to_string(++made);
  *id = {};
  std::memcpy(id->internal, name.data(), name.size());
  cliques[name] = std::make_shared<clique>();
  return nccl::success;
}

nccl::result ncclCommInitRankConfig(nccl::communicator* made, int ranks, nccl::unique_id id, int rank,
                                    nccl::config* how) {
  if (how->blocking != 0 || how->size != sizeof *how || how->magic != 0xcafebeef) return nccl::invalid_argument;
  std::lock_guard const lock(all_mutex);
  std::shared_ptr<clique> const with = cliques.at(id.internal);
  *made = new nccl::opaque_communicator{with, rank};
  ++counts.made;
  ++counts.alive;
  std::lock_guard const inner(with->mutex);
  with->size = ranks;
  if (++with->joined == ranks) cliques.erase(id.internal);
  return nccl::in_progress;
}

nccl::result ncclCommAbort(nccl::communicator which) {
  {
    std::shared_ptr<clique> const kept = which->with;
    std::unique_lock lock(kept->mutex);
    which->aborted = true;
    kept->bell.notify_all();
    kept->bell.wait(lock, [&] { return which->running == 0; });
  }
  delete which;
  std::lock_guard const lock(all_mutex);
  --counts.alive;
  return nccl::success;
}

nccl::result ncclCommGetAsyncError(nccl::communicator which, nccl::result* state) {
  *state = fails("join", which) ? static_cast<nccl::result>(planned().failing_result) : nccl::in_progress;
  {
    std::lock_guard const lock(which->with->mutex);
    if (which->with->joined < which->with->size || *state != nccl::in_progress) return nccl::success;
  }
  if (fails("ncclCommGetAsyncError", which) && !which->held.empty()) {
    *state = static_cast<nccl::result>(planned().failing_result);
    return nccl::success;
  }
  if (clock_type::now() < which->until) return nccl::success;
  for (launch const& one : which->held) {
    {
      std::lock_guard const lock(which->with->mutex);
      ++which->running;
    }
    one.on->enqueue([which, calls = one.calls] { run(which, calls); });
  }
  which->held.clear();
  *state = nccl::success;
  return nccl::success;
}

char const* ncclGetErrorString(nccl::result of) {
  return of == nccl::invalid_usage ? "invalid usage" : "unhandled error";
}

char const* ncclGetLastError(nccl::communicator) { return "said the fake"; }

nccl::result ncclGroupStart() {
  ++depth;
  return nccl::success;
}

nccl::result ncclGroupEnd() {
  if (--depth != 0) return nccl::invalid_usage;
  auto const all = std::exchange(opened, {});
  for (auto const& [in, one] : all) {
    if (fails("ncclGroupEnd", in)) return static_cast<nccl::result>(planned().failing_result);
    in->held.push_back(one);
    in->until = clock_type::now() + std::chrono::microseconds(planned().delay_us);
    std::lock_guard const lock(all_mutex);
    ++counts.calls;
  }
  return nccl::in_progress;
}

nccl::result ncclAllReduce(void const* from, void* to, std::size_t count, nccl::data_type type, nccl::reduction op,
                           nccl::communicator in, nccl::stream on) {
  if (op != nccl::sum) return nccl::invalid_argument;
  return add("ncclAllReduce", {kind::all_reduce, bytes_at(from), bytes_at(to), count, type, 0}, in, on);
}

nccl::result ncclAllGather(void const* from, void* to, std::size_t count, nccl::data_type type, nccl::communicator in,
                           nccl::stream on) {
  return add("ncclAllGather", {kind::all_gather, bytes_at(from), bytes_at(to), count, type, 0}, in, on);
}

nccl::result ncclReduceScatter(void const* from, void* to, std::size_t count, nccl::data_type type, nccl::reduction op,
                               nccl::communicator in, nccl::stream on) {
  if (op != nccl::sum) return nccl::invalid_argument;
  return add("ncclReduceScatter", {kind::reduce_scatter, bytes_at(from), bytes_at(to), count, type, 0}, in, on);
}

nccl::result ncclBroadcast(void const* from, void* to, std::size_t count, nccl::data_type type, int root,
                           nccl::communicator in, nccl::stream on) {
  return add("ncclBroadcast", {kind::broadcast, bytes_at(from), bytes_at(to), count, type, root}, in, on);
}

nccl::result ncclSend(void const* from, std::size_t count, nccl::data_type type, int peer, nccl::communicator in,
                      nccl::stream on) {
  return add("ncclSend", {kind::send, bytes_at(from), nullptr, count, type, peer}, in, on);
}

nccl::result ncclRecv(void* to, std::size_t count, nccl::data_type type, int peer, nccl::communicator in,
                      nccl::stream on) {
  return add("ncclRecv", {kind::recv, nullptr, bytes_at(to), count, type, peer}, in, on);
}

}  // extern "C"
