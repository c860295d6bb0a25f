#pragma once

#include <redco/comm/wait_policy.hpp>

#include <redco/config.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

namespace redco::comm::detail {

/// Type of libgomp's function GOMP_parallel, which calls `region(data)` on a team of `threads`
/// threads.
using gomp_parallel = void (*)(void (*region)(void*), void* data, unsigned threads, unsigned flags);

/// Returns libgomp's function GOMP_parallel, or null if the process uses another OpenMP library or
/// none.
inline gomp_parallel find_gomp() {
  // LLVM's OpenMP library exports GOMP_parallel too.
  if (::dlsym(RTLD_DEFAULT, "kmp_set_blocktime") != nullptr) return nullptr;
  return reinterpret_cast<gomp_parallel>(::dlsym(RTLD_DEFAULT, "GOMP_parallel"));
}

}  // namespace redco::comm::detail

namespace redco::comm {

REDCO_INLINE bool wait_decision::update(double share, double seconds) {
  constexpr double contended = 0.25, calm = 0.15, longest_hold = 32;
  share_ += (share - share_) / 2;  // smoothed: one burst of other work must not cause a switch
  calm_ = share_ < calm ? calm_ + seconds : 0;
  if (!shortened_ && share_ > contended) {
    shortened_ = true;
  } else if (shortened_ && calm_ >= hold_) {
    shortened_ = false;
    hold_ = std::min(2 * hold_, longest_hold);
  }
  return shortened_;
}

REDCO_INLINE std::map<int, std::uint64_t> core_delays() {
  std::map<int, std::uint64_t> all;
  std::error_code unknown;
  int const own = ::gettid();
  for (auto const& task : std::filesystem::directory_iterator("/proc/self/task", unknown)) {
    std::ifstream file(task.path() / "schedstat");
    std::uint64_t ran = 0, waited = 0;
    int const thread = std::atoi(task.path().filename().c_str());
    if (thread != own && file >> ran >> waited) all[thread] = waited;
  }
  return all;
}

REDCO_INLINE double largest_share(std::map<int, std::uint64_t> const& before, std::map<int, std::uint64_t> const& after,
                                  double nanoseconds) {
  std::uint64_t most = 0;
  for (auto const& [thread, delay] : after) {
    auto const known = before.find(thread);
    std::uint64_t const from = known == before.end() ? 0 : known->second;
    if (delay > from) most = std::max(most, delay - from);
  }
  return nanoseconds > 0 ? static_cast<double>(most) / nanoseconds : 0;
}

REDCO_INLINE bool has_room_for(std::size_t threads) {
  pthread_attr_t attributes;
  std::size_t stack = 0;
  if (::pthread_attr_init(&attributes) != 0) return false;
  ::pthread_attr_getstacksize(&attributes, &stack);
  ::pthread_attr_destroy(&attributes);
  std::size_t const bytes = 2 * threads * stack;
  void* const room = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return room != MAP_FAILED && ::munmap(room, bytes) == 0;
}

/// A thread that holds an OpenMP team with more threads than the machine has cores, all of them
/// asleep. Its existence makes libgomp's other threads spin only briefly.
class wait_policy::idle_team {
 public:
  /// Returns a new team, or null if there is no memory for its threads.
  static std::unique_ptr<idle_team> started() {
    try {
      return has_room_for(threads() + 1) ? std::make_unique<idle_team>() : nullptr;
    } catch (std::exception const&) {
      return nullptr;
    }
  }

  idle_team()
      : thread_([this] {
          detail::find_gomp()([](void*) {}, nullptr, threads(), 0);
          std::unique_lock lock(mutex_);
          ended_.wait(lock, [this] { return over_; });
        }) {}
  idle_team(idle_team const&) = delete;
  idle_team& operator=(idle_team const&) = delete;
  ~idle_team() {
    {
      std::scoped_lock const lock(mutex_);
      over_ = true;
    }
    ended_.notify_all();
    thread_.join();
  }

 private:
  static unsigned threads() { return std::thread::hardware_concurrency() + 1; }

  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
  std::thread thread_;
};

REDCO_INLINE wait_policy::wait_policy(std::function<void(bool)> on_change) : on_change_(std::move(on_change)) {
  bool const chosen = std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr;
  if (!chosen && detail::find_gomp() != nullptr) thread_ = std::thread([this] { watch(); });
}

REDCO_INLINE wait_policy::~wait_policy() {
  if (!thread_.joinable()) return;
  {
    std::scoped_lock const lock(mutex_);
    over_ = true;
  }
  ended_.notify_all();
  thread_.join();
}

REDCO_INLINE void wait_policy::watch() {
  using clock = std::chrono::steady_clock;
  wait_decision decision;
  std::unique_ptr<idle_team> team;
  auto delays = core_delays();
  auto since = clock::now();
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, std::chrono::milliseconds(200), [this] { return over_; })) {
    lock.unlock();
    auto now = core_delays();
    double const seconds = std::chrono::duration<double>(clock::now() - since).count();
    bool const shortened = decision.update(largest_share(delays, now, 1e9 * seconds), seconds);
    delays = std::move(now);
    since = clock::now();
    if (shortened != (team != nullptr)) {
      team = shortened ? idle_team::started() : nullptr;
      if (shortened == (team != nullptr)) on_change_(shortened);
    }
    lock.lock();
  }
}

}  // namespace redco::comm
