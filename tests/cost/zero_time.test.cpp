#include "zero_walk.hpp"

#include "catch.hpp"

#include <redco/cost/cost_of.hpp>
#include <redco/cost/machine.hpp>
#include <redco/cost/step_time.hpp>
#include <redco/optimizer/optimizers.hpp>

#include <cstdint>

// Tests of the predicted time of steps whose replicas keep shares of the state (ZeRO).

namespace zero_plan_test {

TEST_CASE("a step of ZeRO 3 updates a share and takes the time of its gathers") {
  cost::machine const on{.compute = {{dtype::f32, 2, 1e11, 1e10, 1e10, 1e-6}},
                         .groups = {{2, 2, 1e-5, 1e9}},
                         .update_bytes_per_second = 1e10};
  auto const time = [&](int level, std::int64_t keep = 0) {
    cost::setup s{.mesh = {.dp = 2}, .load = {2, 8}};
    s.micro_batches = 4;
    s.zero.level = level;
    s.zero.keep = keep;
    return cost::step_time_of(cost::cost_of(tied, adamw{}, s), s, on);
  };
  CHECK(time(3).update == Approx(time(2).update).epsilon(0.01));
  CHECK(time(3).messages > time(2).messages);
  CHECK(time(3, 2).messages < time(3).messages);
  CHECK(time(3, 4).messages < time(3, 2).messages);
}

TEST_CASE("gathers of blocks overlap with computation between hosts, and the first ones of a step do not") {
  cost::machine on{.compute = {{dtype::f32, 1, 1e11, 1e10, 1e10, 1e-6}}, .update_bytes_per_second = 1e10};
  on.links = {{2, 2, 1, 0, 1e12}};  // faster than all computation
  cost::setup s{.mesh = {.dp = 2}, .load = {2, 8}, .hosts = 2};
  s.zero.level = 3;
  s.zero.bucket = 1 << 10;
  s.micro_batches = 4;
  CHECK(cost::step_time_of(cost::cost_of(tied, adamw{}, s), s, on).hidden == 0);
  s.zero.overlaps = true;
  cost::rank_cost const cost = cost::cost_of(tied, adamw{}, s);
  double sums = 0, calls = 0, gathers = 0;
  for (cost::message_total const& one : cost.messages) {
    double const seconds = static_cast<double>(one.host_bytes) / 1e12;
    if (one.purpose == cost::messages::name_of_parameters)
      gathers = seconds * (1 - static_cast<double>(cost.memory.gathered) / static_cast<double>(one.payload_bytes));
    if (one.purpose == cost::messages::name_of_gradients && one.calls > 0)
      sums = seconds, calls = static_cast<double>(one.calls) / 4;
  }
  CHECK(gathers > 0);
  CHECK(cost::step_time_of(cost, s, on).hidden == Approx(gathers + sums * (1 - 1 / calls)));
  on.links[0].busy = 0.5;
  CHECK(cost::step_time_of(cost, s, on).hidden == Approx((gathers + sums * (1 - 1 / calls)) / 2));
}

TEST_CASE("groups of replicas sum their equal shares after backward, and a rank updates the share of its group") {
  cost::machine on{.compute = {{dtype::f32, 2, 1e11, 1e10, 1e10, 1e-6}, {dtype::f32, 4, 1e11, 1e10, 1e10, 1e-6}},
                   .groups = {{2, 4, 1e-5, 1e9}, {4, 4, 1e-5, 1e9}},
                   .update_bytes_per_second = 1e10};
  on.links = {{2, 2, 1, 0, 1e9}};
  cost::setup s{.mesh = {.dp = 2, .ds = 2}, .load = {2, 8}};
  s.zero.shared_over = shape::axis::ds | shape::axis::ep;
  s.zero.level = 1;
  cost::memory const m = cost::cost_of(tied, adamw{}, s).memory;
  double const updated = static_cast<double>((m.parameters + m.gradients) / 2 + m.optimizer);
  CHECK(cost::step_time_of(cost::cost_of(tied, adamw{}, s), s, on).update == Approx(4 * updated / 1e10));
  // Each host has a group, and only sums over the groups pass between hosts.
  s.hosts = 2;
  s.zero.overlaps = true;
  s.zero.bucket = 1 << 10;
  for (s.zero.level = 1; s.zero.level <= 3; ++s.zero.level) {
    INFO("level " << s.zero.level);
    cost::step_time const time = cost::step_time_of(cost::cost_of(tied, adamw{}, s), s, on);
    CHECK(time.messages > 0);
    CHECK(time.hidden == 0);
  }
}

}  // namespace zero_plan_test
