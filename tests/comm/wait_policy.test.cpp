#include "torch_catch.hpp"

#include "skip.hpp"

#include <redco/comm/wait_policy.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace wait_policy_test {

using redco::comm::wait_decision;

/// Returns the seconds until a decision is `shortened` under a constant share, in windows of 0.2 s;
/// 60 if it never is.
double seconds_until(wait_decision& decision, bool shortened, double share) {
  double seconds = 0;
  while (seconds < 60 && decision.update(share, 0.2) != shortened) seconds += 0.2;
  return seconds;
}

TEST_CASE("waits become short when threads contend for a core, not after one burst, and long again after calm") {
  wait_decision decision;
  CHECK(seconds_until(decision, true, 0.2) >= 60);
  decision.update(0, 0.2);
  decision.update(0, 0.2);
  CHECK_FALSE(decision.update(0.4, 0.2));  // a burst
  CHECK_FALSE(decision.update(0, 0.2));
  CHECK(seconds_until(decision, true, 0.5) < 1);
  CHECK(seconds_until(decision, false, 0.2) >= 60);  // neither idle nor contended: waits stay short
  double const first = seconds_until(decision, false, 0);
  CHECK(first >= 0.8);
  CHECK(first < 2);
  CHECK(seconds_until(decision, true, 1) < 1);
  CHECK(seconds_until(decision, false, 0) > 1.5 * first);  // frequent switches lengthen the delay
  for (int time = 0; time < 20; ++time) {
    seconds_until(decision, true, 1);
    CHECK(seconds_until(decision, false, 0) < 34);
  }
}

TEST_CASE("the largest share belongs to the thread whose delay grew most") {
  std::map<int, std::uint64_t> const before{{10, 500}, {11, 0}, {12, 90}}, after{{10, 700}, {11, 50}, {13, 150}};
  CHECK(redco::comm::largest_share(before, after, 1000) == Approx(0.2));
  CHECK(redco::comm::largest_share({{10, 700}}, {{10, 500}}, 1000) == 0);
  CHECK(redco::comm::largest_share({}, {}, 0) == 0);
}

/// Processes that compute until this object is destroyed.
struct busy_processes {
  std::vector<pid_t> all;
  explicit busy_processes(unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      pid_t const one = ::fork();
      if (one == 0)
        for (volatile unsigned turns = 0;;) turns = turns + 1;
      all.push_back(one);
    }
  }
  busy_processes(busy_processes const&) = delete;
  busy_processes& operator=(busy_processes const&) = delete;
  ~busy_processes() {
    for (pid_t const one : all) {
      ::kill(one, SIGKILL);
      ::waitpid(one, nullptr, 0);
    }
  }
};

std::size_t threads() {
  auto const tasks = std::filesystem::directory_iterator("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

template <class F>
bool holds_within(int seconds, F const& condition) {
  auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  while (!condition() && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return condition();
}

TEST_CASE("a wait policy set in the environment starts no thread") {
  for (char const* const name : {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"}) {
    ::setenv(name, "active", 1);
    std::size_t const before = threads();
    {
      redco::comm::wait_policy const policy([](bool) {});
      CHECK(threads() == before);
    }
    ::unsetenv(name);
  }
}

TEST_CASE("waits become short during other work unless the environment sets the policy") {
  if (!std::filesystem::exists("/proc/self/schedstat"))
    return skip("no /proc/self/schedstat, which counts the time that threads wait for a core");
  busy_processes const others(2 * std::thread::hardware_concurrency());
  for (bool const chosen : {true, false}) {
    if (chosen) ::setenv("GOMP_SPINCOUNT", "300000", 1);
    else ::unsetenv("GOMP_SPINCOUNT");
    std::atomic<bool> shortened = false;
    std::jthread const computing([](std::stop_token const& over) {
      for (volatile unsigned turns = 0; !over.stop_requested();) turns = turns + 1;
    });
    redco::comm::wait_policy const policy([&](bool now) { shortened = now; });
    std::size_t const before = threads();
    CHECK(holds_within(chosen ? 2 : 60, [&] { return shortened.load(); }) != chosen);
    auto const has_idle_team = [&] { return threads() > before + std::thread::hardware_concurrency(); };
    if (!chosen) CHECK(holds_within(10, has_idle_team));
  }
}

TEST_CASE("an OpenMP team is not started if the address space has no room for its threads") {
  CHECK(redco::comm::has_room_for(2));
  CHECK(!redco::comm::has_room_for(std::size_t{1} << 26));
}

}  // namespace wait_policy_test
