// Median time of an in-process all_reduce of f32 between two ranks, one JSON line per size.

#include <redco/comm/in_process_group.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

int main() {
  auto const groups = redco::in_process_group::make("world", 2);
  for (std::int64_t const bytes : {4L << 10, 64L << 10, 1L << 20, 16L << 20}) {
    int const calls = bytes > (1 << 20) ? 200 : 2'000;
    std::vector<double> microseconds;
    std::vector<std::thread> ranks;
    for (int rank = 0; rank < 2; ++rank) {
      ranks.emplace_back([&, rank] {
        at::Tensor const x = at::zeros({bytes / 4});
        auto& group = *groups[static_cast<std::size_t>(rank)];
        for (int call = 0; call < calls / 10; ++call) group.all_reduce(x);
        for (int call = 0; call < calls; ++call) {
          auto const begin = std::chrono::steady_clock::now();
          group.all_reduce(x);
          std::chrono::duration<double, std::micro> const spent = std::chrono::steady_clock::now() - begin;
          if (rank == 0) microseconds.push_back(spent.count());
        }
      });
    }
    for (std::thread& rank : ranks) rank.join();
    std::nth_element(microseconds.begin(), microseconds.begin() + calls / 2, microseconds.end());
    std::printf("{\"benchmark\": \"all_reduce\", \"ranks\": 2, \"bytes\": %lld, \"median_us\": %.2f}\n",
                static_cast<long long>(bytes), microseconds[static_cast<std::size_t>(calls / 2)]);
  }
}
