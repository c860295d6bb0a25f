#include "sharded.hpp"

#include <redco/nn/experts.hpp>
#include <redco/nn/routing_record.hpp>
#include <redco/layer/experts.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/shape/sequence_part.hpp>

#include <cstdint>
#include <memory>
#include <vector>

// Records of the experts that routers choose, which another mesh replays.

namespace routing_record_test {

using namespace redco;
using redco::layers::moe, redco::layers::experts, redco::layers::top;
using place = nn::routing_record::place;

at::Tensor chosen_of(at::Tensor const& scores) { return std::get<1>(scores.topk(2, -1)).contiguous(); }

/// Scores of two sequences of two tokens. Experts 1 and 2 of token 0 are tied for the second place,
/// and those of token 3 are not.
at::Tensor scores() {
  return at::tensor({.9, .4, .4, .1, .9, .5, .2, .1, .1, .2, .7, .8, .9, .4, .3, .1}, at::kDouble).view({4, 4});
}

TEST_CASE("a replay takes recorded experts of tied tokens, and the own choice of other tokens") {
  nn::routing_record record(dtype::f64);
  at::Tensor recorded = scores();
  recorded[0][2] += 1e-12;  // expert 2 is before expert 1
  recorded[3][2] += 0.2;
  at::Tensor const first = chosen_of(recorded);
  CHECK(record.agreed(recorded, first, {7, 3, 0, 10}, 2).equal(first));
  CHECK(record.replaced() == 0);
  record.replay();
  at::Tensor other = scores();
  other[0][1] += 1e-12;
  at::Tensor const own = chosen_of(other);
  REQUIRE_FALSE(own[0].equal(first[0]));
  REQUIRE_FALSE(own[3].equal(first[3]));
  at::Tensor const agreed = record.agreed(other, own, {7, 3, 0, 10}, 2);
  CHECK(agreed[0].equal(first[0]));
  CHECK(agreed.slice(0, 1).equal(own.slice(0, 1)));
  CHECK(record.replaced() == 1);
  // Each sequence is found by its index, whatever other sequences a rank has.
  CHECK(record.agreed(other.slice(0, 0, 2), own.slice(0, 0, 2), {7, 3, 0, 10}, 1)[0].equal(first[0]));
  for (place const& elsewhere : {place{8, 3, 0, 10}, {7, 4, 0, 10}, {7, 3, 1, 10}, {7, 3, 0, 11}})
    CHECK(record.agreed(other.slice(0, 0, 2), own.slice(0, 0, 2), elsewhere, 1).equal(own.slice(0, 0, 2)));
  CHECK(record.agreed(other.slice(0, 0, 0), own.slice(0, 0, 0), {7, 3, 0, 10}, 0).numel() == 0);
  // A sequence with another number of tokens keeps its record, and gets none of it.
  CHECK(record.agreed(other, own, {7, 3, 0, 10}, 1).equal(own));
  CHECK(record.agreed(other, own, {7, 3, 0, 10}, 2)[0].equal(first[0]));
  CHECK(record.sequences() == 2);
}

/// Returns the rows of `x` [tokens, n] that a rank has, with zeros for padding.
at::Tensor rows_of(at::Tensor const& x, redco::shape::sequence_part const& part) {
  std::vector<at::Tensor> rows;
  for (redco::shape::sequence_part::run const& one : part.runs()) {
    if (one.real > 0) rows.push_back(x.narrow(0, one.first, one.real));
    rows.push_back(at::zeros({part.of_run() - one.real, x.size(1)}, x.options()));
  }
  return at::cat(rows);
}

TEST_CASE("ranks with parts of sequences record their own tokens, and replay those of whole sequences") {
  // Experts 1 and 2 are tied for the second place of each token.
  at::Tensor const tied = at::tensor({.9, .4, .4, .1}, at::kDouble).repeat({5, 1});
  at::Tensor second = tied.clone(), third = tied.clone();
  second.select(1, 1).add_(1e-12);
  third.select(1, 2).add_(1e-12);
  at::Tensor const whole = chosen_of(third), other = chosen_of(second);
  REQUIRE_FALSE(whole[0].equal(other[0]));
  place const at{7, 3, 0, 10};
  nn::routing_record of_whole(dtype::f64), of_parts(dtype::f64);
  CHECK(of_whole.agreed(third, whole, at, 1).equal(whole));
  of_whole.replay();
  // The first rank has tokens 0 and 1, and the second one tokens 2, 3 and 4. Both have padding.
  for (int const rank : {0, 1}) {
    redco::shape::sequence_part const part{rank, 2, 5};
    at::Tensor const scores = rows_of(second, part), own = rows_of(other, part);
    CHECK(of_whole.agreed(scores, own, at, 1, &part).equal(rows_of(whole, part)));
    of_parts.agreed(rows_of(third, part), rows_of(whole, part), at, 1, &part);
  }
  CHECK(of_whole.replaced() == 5);
  of_parts.replay();
  CHECK(of_parts.agreed(second, other, at, 1).equal(whole));
  // A part of a sequence has no record if only other ranks have recorded theirs.
  nn::routing_record of_one(dtype::f64);
  redco::shape::sequence_part const first{0, 2, 5};
  of_one.agreed(rows_of(third, first), rows_of(whole, first), at, 1, &first);
  of_one.replay();
  at::Tensor const equal = at::ones({5, 4}, at::kDouble);
  CHECK(of_one.agreed(equal, other, at, 1).equal(at::cat({whole.slice(0, 0, 2), other.slice(0, 2)})));
}

constexpr std::int64_t width = 6;

/// A model of two layers of experts.
struct routed {
  using block = residual<sequential<named<"mlp", moe<experts<4, width, 8>, top<2>>>>>;
  using net = sequential<named<"h", repeat<2, block>>>;
  no_config config;
  constexpr extents input(workload const& load) const { return {load.batch, load.sequence, width}; }
};

/// Returns the output of four sequences on the mesh `on`. The scores of experts 1 and 2 are tied,
/// up to `noise`, which gives expert 1 or 2 the better one.
at::Tensor output_on(mesh const& on, nn::routing_record* record, double noise) {
  at::Tensor const all = at::zeros({4, 3, width}, at::kDouble);
  comm::run_ranks(on, {.threads = 1}, [&](rank_context& rank) {
    at::NoGradGuard const no_grad;
    nn::parameter_store const store(shard::placed_parameters(plan_of(routed{}, on)), rank.rank, dtype::f64, 3);
    sharded::fill(store, rank.rank);
    for (auto const& p : store.parameters()) {
      if (!p.name.ends_with("gate.weight") || p.name.ends_with("experts.gate")) continue;
      p.value[2].copy_(p.value[1] * (1 + noise));
    }
    auto const net = std::make_shared<nn::network<routed> const>(routed{}, store, rank.rank, on);
    int const replicas = on.size(redco::shape::batch_axes), each = 4 / replicas,
              first = each * rank.coordinate(redco::shape::batch_axes);
    pass in = nn::training_pass(rank, 0, 5).with_examples(first, each);
    in.routing = record;
    at::Tensor const x = sharded::values_of("x", std::vector<std::int64_t>{4, 3, width}).narrow(0, first, each);
    at::Tensor const y = bound_network<routed>(net, in)(x);
    if (rank.tp_index() == 0) all.narrow(0, first, each).copy_(y);
  });
  return all;
}

TEST_CASE("routing replay removes ties between meshes") {
  at::Tensor const one = output_on({}, nullptr, 1e-13);
  REQUIRE((output_on({}, nullptr, -1e-13) - one).abs().max().item<double>() > 1e-3);
  for (mesh const& recording : {mesh{}, mesh{.ep = 2}, mesh{.dp = 2, .ep = 2}})
    for (mesh const& replaying : {mesh{.ep = 4}, mesh{.ep = 2, .tp = 2}, mesh{}}) {
      nn::routing_record record(dtype::f64);
      at::Tensor const expected = output_on(recording, &record, 1e-13);
      CHECK((expected - one).abs().max().item<double>() < 1e-10);
      record.replay();
      CHECK((output_on(replaying, &record, -1e-13) - one).abs().max().item<double>() < 1e-10);
      CHECK(record.replaced() > 0);
    }
}

}  // namespace routing_record_test
