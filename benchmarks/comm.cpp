// Measures the median time of an in-process all_reduce of f32 between two ranks; prints one JSON
// line per size. For `median_us`, the data is in the caches where the previous call left it, as in
// benchmarks of other libraries. For `fresh_us`, both ranks have just written their whole tensor,
// as in a training step: half of the data is in the other core's cache.

#include "timing.hpp"

#include <redco/comm/in_process_group.hpp>

#include <redco/tensor/rank_environment.hpp>
#include <redco/json/dump.hpp>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

double median_us(redco::comm::group& group, at::Tensor const& x, int calls, bool fresh) {
  std::vector<double> microseconds;
  for (int call = -calls / 10; call < calls; ++call) {
    if (fresh) x.fill_(call);
    group.barrier();
    auto const begin = std::chrono::steady_clock::now();
    group.all_reduce(x);
    std::chrono::duration<double, std::micro> const spent = std::chrono::steady_clock::now() - begin;
    if (call >= 0) microseconds.push_back(spent.count());
  }
  return median(microseconds);
}

}  // namespace

int main() {
  auto const groups = redco::comm::in_process_group::make("world", 2);
  for (std::int64_t const bytes : {4L << 10, 64L << 10, 1L << 20, 16L << 20}) {
    std::vector<std::thread> ranks;
    for (auto const& group : groups) {
      ranks.emplace_back([&group = *group, bytes] {
        int const calls = bytes > (1 << 20) ? 100 : 2'000;
        at::set_num_threads(1);
        at::Tensor const x = at::zeros({bytes / 4});
        double const resting = median_us(group, x, calls, false);
        double const fresh = median_us(group, x, calls, true);
        if (group.rank() != 0) return;
        redco::json::json_line line;
        line.add_text("benchmark", "\"all_reduce\"");
        line.add("ranks", group.size());
        line.add("bytes", bytes);
        line.add("median_us", std::round(resting * 100) / 100);
        line.add("fresh_us", std::round(fresh * 100) / 100);
        std::puts(line.text().c_str());
      });
    }
    for (std::thread& rank : ranks) rank.join();
  }
}
