#include "torch_catch.hpp"

#include <redco/tensor/device.hpp>
#include <redco/tensor/device_graph.hpp>
#include <redco/diag/error.hpp>

#include <algorithm>
#include <cstdint>

namespace {

double sum_of(at::Tensor const& x) { return x.sum().item<double>(); }

/// Overwrites the values of `x` by `value`, as copying in a batch does.
void move_in(at::Tensor& x, std::int64_t value) { x.fill_(value); }

}  // namespace

TEST_CASE("a count taken while a graph is recorded becomes the count of each later batch") {
  at::Tensor ids = at::ones({4}, at::kLong), other = at::full({2}, 3, at::kLong);
  redco::tensors::graph_recording kept;
  double first = 0, second = 0;
  int checks = 0;
  {
    redco::tensors::graph_recording::scope const here(&kept);
    first = redco::tensors::count_on_cpu(ids, sum_of);
    second = redco::tensors::count_on_cpu(other, sum_of);
    redco::tensors::check_on_cpu(ids, [&](at::Tensor const&) { ++checks; });
  }
  CHECK(first > 0);
  CHECK(first != second);
  CHECK(kept.latest(first) == 4);
  CHECK(kept.latest(second) == 6);
  move_in(ids, 5);
  CHECK(kept.latest(first) == 4);
  kept.look_again();
  CHECK(kept.latest(first) == 20);
  CHECK(kept.latest(second) == 6);
  CHECK(checks == 2);
  CHECK(redco::tensors::count_on_cpu(ids, sum_of) == 20);  // no recording any more
}

TEST_CASE("a number computed from a recorded count is not a count of the recording") {
  at::Tensor const ids = at::ones({4}, at::kLong);
  redco::tensors::graph_recording kept;
  redco::tensors::graph_recording::scope const here(&kept);
  double const one = redco::tensors::count_on_cpu(ids, sum_of), two = redco::tensors::count_on_cpu(ids, sum_of);
  CHECK(kept.count_of(one) == 0);
  CHECK(kept.count_of(two) == 1);
  for (double const computed : {2 * one, one / 2, one + two, one + 1, std::max(one, 1.0), 4.0, 0.0, -one})
    CHECK(kept.count_of(computed) == -1);
}

TEST_CASE("only a thread that records refuses reads of the CPU and random numbers") {
  at::Tensor const ids = at::ones({4}, at::kLong);
  CHECK_NOTHROW(redco::tensors::graph_recording::refuse_random_numbers());
  CHECK(redco::tensors::to_cpu(ids).equal(ids));
  redco::tensors::graph_recording kept;
  redco::tensors::graph_recording::scope const here(&kept);
  CHECK_THROWS_AS(redco::tensors::to_cpu(ids), redco::error);
  CHECK_THROWS_AS(redco::tensors::graph_recording::refuse_random_numbers(), redco::error);
  CHECK(!kept.handed_out());
  CHECK(redco::tensors::look_on_cpu(ids, sum_of) == 4);
  CHECK(kept.handed_out());
  redco::tensors::graph_recording::scope const free(nullptr);
  CHECK(redco::tensors::to_cpu(ids).equal(ids));
}
