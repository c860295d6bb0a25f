#include "nn/observation.hpp"
#include "nn/sharded.hpp"

#include <redco/nn/cross_entropy.hpp>
#include <redco/model/mgpt.hpp>
#include <redco/model/model.hpp>
#include <redco/model/sequence_parallel.hpp>
#include <redco/layer/attention.hpp>
#include <redco/layer/block_set.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sparse_traits.hpp>
#include <redco/layer/tree.hpp>
#include <redco/layer/wrappers.hpp>
#include <redco/fact/path.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

// Compares layers with sparse attention and sinks with plain operators on several widths, and their
// saved tensors and messages with the declared ones.

namespace sparse_attention_test {

using namespace redco;
using redco::layers::attention_sinks;
using redco::layers::sliding_band;
using redco::layers::sparse_causal;
using sharded::tensor_map;

/// Returns true if position i sees position j: blocks of 2 tokens in windows of 4, the last block
/// but `set` of which is global.
bool sees(std::int64_t set, std::int64_t i, std::int64_t j) {
  return j <= i && (i / 8 == j / 8 || j / 2 % 4 == 3 - set);
}

/// Returns the mask [heads, T, T] of the keys that each query sees.
at::Tensor seen_keys(std::int64_t heads, std::int64_t length, bool sparse) {
  at::Tensor const seen = at::ones({heads, length, length}, at::kBool).tril();
  for (std::int64_t h = 0; sparse && h < heads; ++h)
    for (std::int64_t i = 0; i < length; ++i)
      for (std::int64_t j = 0; j <= i; ++j) seen[h][i][j].fill_(sees(h % 4, i, j));
  return seen;
}

at::Tensor plain_layer(tensor_map const& p, std::string const& at, at::Tensor const& x, std::int64_t kv_heads,
                       bool sparse, bool sunk) {
  auto const project = [&](char const* name, at::Tensor const& y) {
    return at::linear(y, p.at(at + name + ".weight"), p.at(at + name + ".bias"));
  };
  auto const by_head = [&](char const* name, std::int64_t heads) {
    return project(name, x).unflatten(2, {heads, -1}).transpose(1, 2).repeat_interleave(6 / heads, 1);
  };
  at::Tensor const q = by_head("q", 6), k = by_head("k", kv_heads), v = by_head("v", kv_heads);
  at::Tensor scores = at::matmul(q, k.transpose(2, 3)) / std::sqrt(static_cast<double>(q.size(3)));
  scores = scores.masked_fill(seen_keys(6, x.size(1), sparse).logical_not(), -std::numeric_limits<double>::infinity());
  at::Tensor out = at::matmul(scores.softmax(-1), v);
  if (sunk) out = out * at::sigmoid(scores.logsumexp(-1, true) - p.at(at + "sinks").view({1, 6, 1, 1}));
  return project("o", out.transpose(1, 2).flatten(2));
}

at::Tensor features(std::int64_t length) {
  return sharded::values_of("x", std::vector<std::int64_t>{2, length, 12}) * 2;
}

using sparse = sparse_causal<2, 4, 1, 4>;

TEST_CASE(
    "sparse attention counts its patterns over the heads of all ranks, and each rank has the sinks of its heads") {
  for (std::int64_t const length : {16, 22, 23})
    sharded::check_module<causal_attention<12, 6, sparse, attention_sinks<>>>(
        features(length), [](tensor_map const& p, at::Tensor const& x) { return plain_layer(p, "", x, 6, true, true); },
        {1, 2, 3, 6});
  sharded::check_module<causal_attention<12, 6, key_value_heads<2>, attention_sinks<>, sparse>>(
      features(19), [](tensor_map const& p, at::Tensor const& x) { return plain_layer(p, "", x, 2, true, true); },
      {1, 2, 6});
}

TEST_CASE("sinks that are not enabled are no parameters") {
  using none = causal_attention<12, 6, attention_sinks<false>>;
  for (auto const& p : redco::shard::placed_parameters(plan_of(model_of<none>{}, {.dp = 1})))
    CHECK(p.name.find("sinks") == std::string::npos);
  sharded::check_module<none>(
      features(5), [](tensor_map const& p, at::Tensor const& x) { return plain_layer(p, "", x, 6, false, false); });
}

/// Two stacks with sparse attention in blocks 0 and 2, one by a set of dense blocks and one by a
/// cycle of two block types.
template <class... Traits>
using attending = residual<causal_attention<12, 6, Traits...>>;
using by_set =
    model_of<named<"h", repeat<4, attending<sparse_causal<2, 4, 1, 4, redco::layers::every_block(2)>>>>, input<21, 12>>;
using by_cycle = model_of<named<"h", repeat<4, attending<sparse>, attending<>>>, input<21, 12>>;

TEST_CASE("a stack alternates between sparse and dense blocks, by a set of blocks or by a cycle") {
  sharded::dense_function const expected = [](tensor_map const& p, at::Tensor x) {
    for (int i = 0; i < 4; ++i) x = x + plain_layer(p, "h." + std::to_string(i) + ".", x, 6, i % 2 == 0, false);
    return x;
  };
  sharded::check_module<by_set>(features(21) * 0.2, expected, {1, 2});
  sharded::check_module<by_cycle>(features(21) * 0.2, expected, {1, 2});
  sharded::check_module<by_set>(features(21) * 0.2, expected, {2}, sharded::call{}, {.recompute = true});
}

TEST_CASE("a sliding band sees the own block and whole blocks before it") {
  sharded::check_module<causal_attention<12, 1, sliding_band<3, 2>>>(
      features(14),
      [](tensor_map const& p, at::Tensor const& x) {
        auto const project = [&](std::string const& name, at::Tensor const& y) {
          return at::linear(y, p.at(name + ".weight"), p.at(name + ".bias"));
        };
        at::Tensor const place = at::arange(14), from = place.unsqueeze(1), block = place.floor_divide(3);
        at::Tensor const seen = place.le(from).logical_and(block.ge(from.floor_divide(3) - 1));
        at::Tensor const scores = at::matmul(project("q", x), project("k", x).transpose(1, 2)) / std::sqrt(12.0);
        at::Tensor const p_of =
            scores.masked_fill(seen.logical_not(), -std::numeric_limits<double>::infinity()).softmax(-1);
        return project("o", at::matmul(p_of, project("v", x)));
      },
      {1});
}

/// A small mGPT whose attentions also have sinks.
struct sunk_mgpt {
  struct with_sinks {
    template <class L, fact::path>
    struct at : std::type_identity<L> {};
    template <redco::layers::attention_kind Kind, auto Width, auto Heads, class... Traits, fact::path Here>
    struct at<redco::layers::attention<Kind, Width, Heads, Traits...>, Here>
        : std::type_identity<redco::layers::attention<Kind, Width, Heads, Traits..., attention_sinks<>>> {};
  };
  using net = redco::layers::transform<models::mgpt::net, with_sinks>;
  models::mgpt_config config{{.vocab = 101, .context = 96, .width = 96, .heads = 6, .layers = 3, .dropout = 0.1}, 4};
};

TEST_CASE("sparse attention and sinks save and send the planned bytes, and the peak is the planned one") {
  sunk_mgpt const model;
  for (int const tp : {1, 2, 3})
    for (saved_test::product_case const& one : saved_test::product_cases)
      for (bool const recompute : {false, true}) {
        INFO("tp " << tp << " " << one.name() << " recompute " << recompute);
        redco::tensors::forced_bf16_path const forced(one.path);
        redco::cost::setup s{.mesh = {.tp = tp}, .load = {8, 80}, .compute = one.compute, .recompute = recompute};
        s.prefetch = 0;
        auto const batch = [] {
          at::Tensor const ids = at::arange(8 * 80, at::kLong).remainder(101).view({8, 80});
          return std::vector<at::Tensor>{ids, ids.flip(0)};
        };
        auto const loss = [](auto const& net, std::vector<at::Tensor> const& b) {
          return redco::cross_entropy(net(b[0]), b[1]).sum;
        };
        auto const plain = saved_test::observe(model, s, batch, loss);
        saved_test::check_saved_and_sent(plain);
        saved_test::check_peak(plain);
        if (tp != 2 || one.compute != redco::dtype::f32) continue;
        saved_test::check_saved_and_sent(
            saved_test::observe(models::sequence_parallel<sunk_mgpt>{model.config}, s, batch, loss));
      }
}

}  // namespace sparse_attention_test
