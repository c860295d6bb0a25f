#include "catch.hpp"

#include <redco/cost/cost_of.hpp>
#include <redco/cost/detail/shared_buffers.hpp>
#include <redco/cost/fits.hpp>
#include <redco/shard/facts.hpp>
#include <redco/shard/legal.hpp>
#include <redco/shard/plan.hpp>
#include <redco/shard/regions.hpp>
#include <redco/layer/attention.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/embeddings.hpp>
#include <redco/layer/experts.hpp>
#include <redco/layer/language_head.hpp>
#include <redco/layer/norms.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/shape/zero.hpp>
#include <redco/diag/error.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

// The plan of the model of BigMac's paper (arXiv 2502.16927): 24 layers, width 2048, 64 experts of
// which 8 are chosen, a quarter of the features.

namespace {

using redco::layers::experts, redco::layers::moe, redco::layers::top, redco::layers::real;
using redco::shape::axis, redco::mesh;
namespace dispatch = redco::layers::dispatch;

constexpr std::int64_t blocks = 24, width = 2048, vocabulary = 50257, sequence = 2048;
using cdac = moe<experts<64, width, width / 4, redco::gelu, false>, top<8>>;
using dcca = moe<experts<64, width, width, redco::gelu, false>, top<8>, dispatch::dcca<real{0.25}>>;

template <class Layer>
struct paper_model {
  using attention = redco::causal_attention<width, 16>;
  using block = redco::sequential<
      redco::residual<
          redco::sequential<redco::named<"ln_1", redco::layer_norm<width>>, redco::named<"attn", attention>>>,
      redco::residual<redco::sequential<redco::named<"ln_2", redco::layer_norm<width>>, redco::named<"mlp", Layer>>>>;
  using net =
      redco::sequential<redco::named<"wte", redco::embedding<vocabulary, width>>,
                        redco::named<"h", redco::repeat<blocks, block>>, redco::named<"ln_f", redco::layer_norm<width>>,
                        redco::layers::language_head<vocabulary, width, "wte.weight">>;
  redco::no_config config;
};

/// Returns the number of elements of all matrices except gates.
template <class Layer>
std::int64_t matrix_elements() {
  std::int64_t all = 0;
  for (redco::fact::parameter_fact const& p : redco::shard::facts_of(paper_model<Layer>{}).parameters)
    if (p.shape.rank > 1 && p.why != redco::fact::reason::router) all += p.shape.count() * p.copies();
  return all;
}

/// Returns the plan of one rank of 32, of which each has a share of 524,288 tokens.
template <class Layer>
redco::cost::rank_cost cost_of_paper() {
  return redco::cost::cost_of(
      paper_model<Layer>{}, redco::adamw{},
      {.mesh = {.ep = 32}, .load = {524288 / 32 / sequence, sequence}, .compute = redco::dtype::bf16});
}

/// Returns the GiB that all ranks send between experts in a step.
template <class Layer>
double exchanged_gib() {
  std::int64_t bytes = 0;
  for (redco::cost::message_total const& one : cost_of_paper<Layer>().messages)
    if (one.over == redco::shape::axes(axis::ep)) bytes += one.wire_bytes;
  return static_cast<double>(bytes) * 32 / (1 << 30);
}

}  // namespace

TEST_CASE("the plan of BigMac's model has the paper's parameters, operations and messages") {
  CHECK(static_cast<double>(matrix_elements<cdac>()) / 1e9 == Approx(3.727).margin(0.0005));
  CHECK(static_cast<double>(matrix_elements<dcca>()) / 1e9 == Approx(3.777).margin(0.0005));
  CHECK(matrix_elements<dcca>() - matrix_elements<cdac>() == blocks * 2 * (width / 4) * width);
  CHECK(exchanged_gib<cdac>() == Approx(1488.0).margin(0.05));
  CHECK(exchanged_gib<dcca>() == Approx(372.0).margin(0.05));
  double const before = static_cast<double>(cost_of_paper<cdac>().operations.total()),
               after = static_cast<double>(cost_of_paper<dcca>().operations.total());
  CHECK((after / before - 1) * 100 == Approx(4.54).margin(0.1));
}

TEST_CASE("experts are divided along ep, and their gradients are summed over dp alone") {
  constexpr mesh on{.dp = 2, .ep = 4, .tp = 2};
  static constexpr paper_model<dcca> model{};
  static_assert(redco::legal<model, on>{});
  auto const plan = redco::plan_of(model, on);
  for (redco::shard::entry const& e : plan.entries) {
    redco::shape::axes const over = redco::shard::region_of(e, true).summed_over;
    bool const routed = e.fact.why == redco::fact::reason::expert;
    INFO(e.fact.name.view());
    CHECK((over == (axis::dp | axis::ds | axis::cp)) == routed);
    if (e.fact.name.view().find("experts.up") != std::string_view::npos)
      CHECK(e.local() == redco::extents{16, width / 2, width / 4});
    if (e.fact.name.view().find("experts.down") != std::string_view::npos)
      CHECK(e.local() == redco::extents{16, width / 4, width / 2});
  }
}

/// A layer of eight experts between dense layers.
struct routed_model {
  using block = redco::residual<redco::sequential<redco::named<"norm", redco::rms_norm<16>>,
                                                  redco::named<"mlp", moe<experts<8, 16, 24>, top<2>>>>>;
  using net =
      redco::sequential<redco::named<"wte", redco::embedding<32, 16>>, redco::named<"h", redco::repeat<2, block>>,
                        redco::named<"norm", redco::rms_norm<16>>, redco::layers::language_head<32, 16, "wte.weight">>;
  redco::no_config config;
};
constexpr routed_model routed{};

constexpr redco::cost::memory memory_with(mesh const& on, int zero) {
  redco::cost::setup run{.mesh = on, .load = {2, 8}};
  run.zero.level = zero;
  return redco::cost::cost_of<routed>(redco::adamw{}, run).memory;
}

TEST_CASE("shares of experts' state are divided by dp alone, and fits<> knows them to the byte") {
  static constexpr mesh on{.dp = 2, .ep = 4};
  // 32 16 + 2 (16 + 8 16) + 16 dense elements, and 2 8 3 16 24 elements of experts
  std::int64_t const dense = 816, routed_elements = 18432;
  CHECK(memory_with(on, 0).optimizer == 8 * (dense + routed_elements / 4));
  CHECK(memory_with(on, 1).optimizer == 8 * (dense / 8 + routed_elements / 8));
  CHECK(memory_with(on, 2).gradients == 4 * (dense / 8 + routed_elements / 8));
  // Blocks are padded apart: 16 + 128 elements divide by 8.
  CHECK(memory_with(on, 3).parameters == 4 * (dense / 8 + routed_elements / 8));
  CHECK(memory_with({.ep = 4}, 1).optimizer == 8 * (dense / 4 + routed_elements / 4));
  CHECK(memory_with({.ep = 4}, 3).parameters == 4 * (dense / 4 + routed_elements / 4));
  constexpr redco::workload load{2, 8};
  static_assert(redco::fits<routed, redco::adamw{}, on, load, memory_with(on, 1).peak(), redco::dtype::f32,
                            redco::recomputed_blocks{}, 1>{});
  CHECK(memory_with(on, 1).peak() < memory_with(on, 0).peak());
}

TEST_CASE("a replica keeps whole parameters of experts by its index among the ranks with equal experts") {
  redco::cost::setup s{.mesh = {.dp = 4, .ep = 2}, .load = {2, 8}};
  s.zero = {.level = 1, .owner = redco::shape::zero_owner::whole, .owns_all = true};
  auto const program = redco::shard::facts_of(routed);
  redco::cost::detail::shared_buffers const all(program.parameters, s);
  REQUIRE(all.kept_by_replica.size() == 8);
  for (int replica = 0; replica < 8; ++replica) {
    std::int64_t kept = 0;
    for (std::size_t i = 0; i < program.parameters.size(); ++i) {
      redco::fact::parameter_fact const& fact = program.parameters[i];
      int const index = fact.why == redco::fact::reason::expert ? replica / 2 : replica;
      for (auto const& place : all.places[i])
        if (place.owner == index) kept += redco::shard::entry{fact, s.mesh}.local().count();
    }
    CHECK(all.kept_by_replica[static_cast<std::size_t>(replica)].trained == kept);
  }
  // The six matrices of two blocks have four owners.
  CHECK(all.kept_by_replica[1].trained > all.kept_by_replica[7].trained);
}

TEST_CASE("a mesh whose ep does not divide the experts is refused with the legal numbers") {
  try {
    redco::plan_of(paper_model<cdac>{}, {.ep = 3});
    CHECK(false);
  } catch (redco::error const& e) {
    CHECK(static_cast<int>(e.code()) == 64);
    CHECK(
        std::string_view(e.what()).find("64 units, which 3 ranks along ep do not divide; legal widths are 1, 2, 4, 8, "
                                        "16, 32, 64") != std::string_view::npos);
  }
}
