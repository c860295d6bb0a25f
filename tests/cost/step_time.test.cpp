#include "catch.hpp"
#include "refused.hpp"

#include <redco/cost/step_time.hpp>

#include <redco/model/model.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/optimizer/optimizers.hpp>

namespace step_time_test {

redco::cost::machine const machine{
    .compute = {{redco::dtype::f32, 1, 1e3, 100, 10, 0.5}}, .groups = {{2, 2, 3, 50}}, .update_bytes_per_second = 25};

TEST_CASE("each part of a cost takes its time, and the step time is their sum") {
  redco::cost::rank_cost c;
  c.operations = {1000, 2000, 500};
  c.activity = {.tensors = 6, .bytes = 700, .weight_bytes = 80};
  c.memory.parameters = c.memory.gradients = 100;
  c.messages.all[redco::cost::messages::forward] = {
      {4, 200, 200}, "", redco::shape::axis::tp, redco::shape::collective::all_reduce, 2, 1, 2, 200};

  auto const one = redco::cost::step_time_of(c, {}, machine);
  CHECK(one.products == Approx(3.5));
  CHECK(one.activations == Approx(7));
  CHECK(one.weights == Approx(8));
  CHECK(one.tensors == Approx(3));
  CHECK(one.update == Approx(8));
  CHECK(one.messages == Approx(4 * 3 + 4));
  CHECK(one.total() == Approx(3.5 + 7 + 8 + 3 + 8 + 16));

  // A reduce-scatter and an all-gather take as long as one all-reduce of the same bytes.
  redco::cost::rank_cost halves = c;
  halves.messages.all[redco::cost::messages::forward] = {
      {4, 200, 100}, "", redco::shape::axis::tp, redco::shape::collective::reduce_scatter, 2, 1, 2, 100};
  halves.messages.all[redco::cost::messages::forward_gather] = {
      {4, 200, 100}, "", redco::shape::axis::tp, redco::shape::collective::all_gather, 2, 1, 2, 100};
  CHECK(redco::cost::step_time_of(halves, {}, machine).messages == Approx(one.messages));

  // The products are those of a replica, everything else is per rank.
  auto const two = redco::cost::step_time_of(c, {.mesh = {.tp = 2}}, machine);
  CHECK(two.products == Approx(3.5));
  CHECK(two.activations == Approx(14));
  CHECK(two.weights == Approx(16));
  CHECK(two.tensors == Approx(3));
  CHECK(two.update == Approx(16));
  CHECK(redco::cost::step_time_of(c, {.mesh = {.dp = 2}}, machine).products == Approx(7));
}

TEST_CASE("a message between hosts also takes the link's time, and hosts on one machine share its cores") {
  redco::cost::rank_cost c;
  c.operations = {1000, 2000, 500};
  c.activity = {.tensors = 6, .bytes = 700, .weight_bytes = 80};
  c.memory.parameters = 100;
  c.messages.all[redco::cost::messages::forward] = {
      {4, 200, 200, 600}, "", redco::shape::axis::tp, redco::shape::collective::all_reduce, 4, 2, 2, 150};
  redco::cost::setup const run{.mesh = {.dp = 2, .tp = 4}, .hosts = 4};
  CHECK(refused([&] { redco::cost::step_time_of(c, run, machine); }) ==
        "65 no link between hosts was measured; run mpirun -n 4 redco-plan --calibrate, a process on each of them");

  redco::cost::machine linked = machine;
  linked.links = {{2, 4, 1, 7, 20}, {4, 4, 1, 9, 10}};
  auto const apart = redco::cost::step_time_of(c, run, linked);
  // Two calls inside a host, at the measured speed of a group of two, and two over the link of two
  // of four hosts.
  CHECK(apart.messages == Approx(4 * 3 + 150.0 / 50 + 4 * 7 + 600.0 / 20));
  CHECK(apart.products == Approx(3.5 * 2 / 4));
  CHECK(apart.activations == Approx(7 * 2));
  CHECK(apart.weights == Approx(8 * 2));
  CHECK(apart.tensors == Approx(3));
  CHECK(apart.update == Approx(4 * 2));

  // Two machines that hold two hosts each, then one machine that holds all four.
  linked.links[1].hosts_of_machine = 2;
  auto const pairs = redco::cost::step_time_of(c, run, linked);
  CHECK(pairs.products == Approx(3.5 * 2 / 2));
  CHECK(pairs.activations == Approx(7 * 4));
  CHECK(pairs.messages == Approx(apart.messages));
  linked.links[1].hosts_of_machine = 4;
  CHECK(redco::cost::step_time_of(c, run, linked).update == Approx(4 * 8));

  // A group with one rank on each host sends nothing inside a host.
  c.messages.all[redco::cost::messages::forward] = {
      {4, 200, 200, 600}, "", redco::shape::axis::tp, redco::shape::collective::all_reduce, 4, 4, 1, 0};
  CHECK(redco::cost::step_time_of(c, run, linked).messages == Approx(4 * 9 + 600.0 / 10));
}

TEST_CASE("gradient buckets overlap the last backward, each after its gradients and the previous bucket") {
  redco::cost::rank_cost c;
  c.operations = {1000, 2000, 500};
  // With products 3.5 + 7 + 8 + 3 = 21.5 s
  c.activity = {.tensors = 6, .bytes = 700, .weight_bytes = 80};
  c.messages.all[redco::cost::messages::gradients] = {
      {5, 0, 0, 300}, "gradients", redco::shape::axis::dp, redco::shape::collective::all_reduce, 2, 2, 1, 0};
  c.messages.all[redco::cost::messages::forward] = {
      {5, 0, 0, 300}, "forward activations", redco::shape::axis::dp, redco::shape::collective::all_reduce, 2, 2, 1, 0};
  redco::cost::setup run{.mesh = {.dp = 2}, .hosts = 2};
  auto const hidden = [&](double seconds_per_call, double busy = 0) {
    redco::cost::machine linked = machine;
    linked.links = {{2, 2, 1, seconds_per_call, 300, busy}};
    auto const time = redco::cost::step_time_of(c, run, linked);
    CHECK(time.messages == Approx(2 * (1 + 5 * seconds_per_call)));
    CHECK(time.total() == Approx(time.products + 18 + time.messages + time.update - time.hidden));
    return time.hidden;
  };
  CHECK(hidden(0.8) == 0);
  run.zero.bucket = 64;
  double const backward = 21.5 * 2500 / 3500;
  // Sums of 5 s are shorter than backward: only the last of five buckets is sent after it.
  CHECK(hidden(0.8) == Approx(4));
  CHECK(hidden(0.8, 0.25) == Approx(3));
  // Sums of 20 s are longer than backward: they begin when a fifth of backward is done.
  CHECK(hidden(3.8) == Approx(backward * 4 / 5));
  // With two micro-batches only the last one's backward overlaps the sums.
  run.micro_batches = 2;
  CHECK(hidden(3.8) == Approx(backward / 2 * 4 / 5));
  // Backward waits for the sums of which a rank keeps its share only.
  run.zero.level = 2;
  CHECK(hidden(3.8) == 0);
  // Sums in a lane overlap with both backwards, each of which has two of them.
  run.zero.overlaps = true;
  CHECK(hidden(3.8) == Approx(2 * backward / 2 / 2));
  run.zero.overlaps = false;
  run.zero.level = 0;
  // A single bucket overlaps nothing.
  c.messages.all[redco::cost::messages::gradients].calls = 1;
  run.micro_batches = 1;
  redco::cost::machine linked = machine;
  linked.links = {{2, 2, 1, 1, 300}};
  CHECK(redco::cost::step_time_of(c, run, linked).hidden == 0);
  // Messages inside a host take the cores that compute.
  c.messages.all[redco::cost::messages::forward] = {};
  c.messages.all[redco::cost::messages::gradients] = {
      {5, 0, 0, 0}, "gradients", redco::shape::axis::dp, redco::shape::collective::all_reduce, 2, 1, 2, 300};
  CHECK(redco::cost::step_time_of(c, {.mesh = {.dp = 2}, .zero = {.bucket = 64}}, machine).hidden == 0);
}

TEST_CASE("messages of shards overlap the matrix products that produce or consume them") {
  redco::cost::rank_cost c;
  c.operations = {1000, 2000, 500, 700, 200};
  auto& sums = c.messages.all[redco::cost::messages::backward];
  sums = {{4, 4 * redco::shape::MiB(1), 0, 300},
          "backward activations",
          redco::shape::axis::tp,
          redco::shape::collective::all_reduce,
          2,
          2,
          1,
          0};
  redco::cost::setup run{.mesh = {.tp = 2}, .hosts = 2};
  redco::cost::machine linked = machine;
  linked.links = {{2, 2, 1, 0.05, 1000, 0.25}};
  auto const hidden = [&] { return redco::cost::step_time_of(c, run, linked).hidden; };
  CHECK(hidden() == 0);
  run.overlap_shards = true;
  double const products = 3500.0 / 2 / 1e3;
  CHECK(hidden() == Approx((4 * 0.05 + 300.0 / 1000) * 0.75));
  linked.links[0].seconds_per_call = 1;
  double const columns = products * 700 / 3500, rows = products * 200 / 3500;
  CHECK(hidden() == Approx(columns * 1.75 * 0.75));
  // Half of forward runs again. Messages in four runs of rows overlap three of the four products.
  auto const alone = [&](redco::cost::messages::purpose purpose, redco::shape::collective kind) {
    c.messages.all[purpose] = {{4, 4 * redco::shape::MiB(1), 0, 300}, "", redco::shape::axis::tp, kind, 2, 2, 1, 0};
    double const more = hidden() - columns * 1.75 * 0.75;
    c.messages.all[purpose] = {};
    return more;
  };
  CHECK(alone(redco::cost::messages::forward, redco::shape::collective::all_reduce) ==
        Approx(rows * 1.5 * 0.75 * 0.75));
  CHECK(alone(redco::cost::messages::forward_scatter, redco::shape::collective::reduce_scatter) ==
        Approx(rows * 1.5 * 0.75 * 0.75));
  CHECK(alone(redco::cost::messages::forward_gather, redco::shape::collective::all_gather) ==
        Approx(columns * 1.5 * 0.75 * 0.75));
  CHECK(alone(redco::cost::messages::backward_gather, redco::shape::collective::all_gather) ==
        Approx(rows * 0.75 * 0.75));
  CHECK(alone(redco::cost::messages::backward_scatter, redco::shape::collective::reduce_scatter) ==
        Approx(columns * 1.75 * 0.75));
  CHECK(alone(redco::cost::messages::loss, redco::shape::collective::all_reduce) == Approx(0).margin(1e-12));
  // Half a mebibyte is divided into two runs only, less than a quarter into none.
  sums.payload_bytes = 2 * redco::shape::MiB(1);
  CHECK(hidden() == Approx(columns * 1.5 * 0.75));
  sums.payload_bytes = redco::shape::MiB(1) - 4;
  CHECK(hidden() == 0);
  sums.payload_bytes = redco::shape::MiB(4);
  sums.hosts = 1, sums.here = 2;
  CHECK(hidden() == 0);
}

TEST_CASE("the activity of a model is three times its layers' bytes, four times for recomputed blocks") {
  using block = redco::sequential<redco::linear<8, 32>, redco::relu, redco::linear<32, 8>>;
  redco::model_of<redco::repeat<3, block>, redco::input<8>> const toy;
  redco::cost::setup run{.load = {5, 1}, .micro_batches = 2};
  auto const whole = redco::cost::cost_of(toy, redco::sgd{}, run).activity;
  std::int64_t const weights = 3 * (8 * 32 + 32 + 32 * 8 + 8) * 4;
  CHECK(whole.weight_bytes == 3 * 2 * weights);
  run.recompute = true;
  auto const again = redco::cost::cost_of(toy, redco::sgd{}, run).activity;
  CHECK(again.weight_bytes == 4 * 2 * weights);
  CHECK(again.bytes * 3 == whole.bytes * 4);
  CHECK(again.tensors * 3 == whole.tensors * 4);
  run.recompute = redco::recomputed_blocks::first_n(1);
  auto const some = redco::cost::cost_of(toy, redco::sgd{}, run).activity;
  CHECK(some.weight_bytes == 2 * weights * 10 / 3);
  CHECK(some.bytes * 9 == whole.bytes * 10);
  CHECK(some.tensors * 9 == whole.tensors * 10);
}

}  // namespace step_time_test
