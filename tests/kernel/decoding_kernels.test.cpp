#include "torch_catch.hpp"

#include <redco/kernel/attention.hpp>
#include <redco/kernel/linear.hpp>
#include <redco/kernel/top_entries.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/diag/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <mutex>
#include <string>
#include <vector>

// Compares kernels that only decoding uses with ATen's operators or with the kernels of training.

namespace {

at::Tensor wave(std::vector<std::int64_t> const& sizes, double step) {
  return at::sin(at::arange(c10::multiply_integers(sizes), at::kDouble) * step + 0.3).view(sizes);
}

double largest_difference(at::Tensor const& a, at::Tensor const& b) {
  return (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>();
}

}  // namespace

TEST_CASE("products of few rows without gradients equal products of many rows") {
  at::NoGradGuard const no_grad;
  for (std::int64_t const in : {1, 7, 16, 37, 200})
    for (std::int64_t const out : {1, 2, 3, 50}) {
      at::Tensor const weight = wave({out, in}, 0.731), bias = wave({out}, 1.1);
      for (std::int64_t const rows : {1, 2, 3, 4, 5, 8, 11, 32, 33}) {
        at::Tensor const x = wave({rows, in}, 0.413), y = at::linear(x, weight, bias);
        INFO(rows << " rows, " << in << " to " << out);
        double const f32 =
            largest_difference(redco::kernel::linear(x.to(at::kFloat), weight.to(at::kFloat), bias.to(at::kFloat)), y);
        CHECK(f32 < 2e-7 * static_cast<double>(in + 8));
        double const half = largest_difference(
            redco::kernel::linear(x.to(at::kBFloat16), weight.to(at::kBFloat16), bias.to(at::kBFloat16)), y);
        CHECK(half < 2e-2 * std::sqrt(static_cast<double>(in + 8)));
        CHECK(largest_difference(redco::kernel::linear(x, weight), at::linear(x, weight)) < 1e-12);
      }
    }
}

TEST_CASE("a product of few rows reads weights and inputs that are slices of larger tensors") {
  at::NoGradGuard const no_grad;
  at::Tensor const weight = wave({9, 40}, 0.7).to(at::kFloat).narrow(1, 3, 30);
  at::Tensor const x = wave({3, 2, 50}, 0.9).to(at::kFloat).narrow(2, 7, 30);
  at::Tensor const y = redco::kernel::linear(x, weight);
  CHECK(y.sizes() == at::IntArrayRef{3, 2, 9});
  CHECK(largest_difference(y, at::linear(x.to(at::kDouble), weight.to(at::kDouble))) < 1e-5);
}

TEST_CASE("the largest logits of each row and the sum of all are equal for any split over ranks") {
  constexpr std::int64_t vocabulary = 9001, width = 12;
  std::mutex mutex;
  std::vector<std::string> broken;
  for (auto const type : {at::kDouble, at::kFloat, at::kBFloat16})
    for (int const ranks : {1, 2, 3})
      redco::comm::run_ranks({.tp = ranks}, {}, [&](redco::rank_context& rank) {
        std::int64_t const columns = (vocabulary + ranks - 1) / ranks;
        at::Tensor const all = at::zeros({columns * ranks, width}, at::kDouble);
        all.narrow(0, 0, vocabulary).copy_(wave({vocabulary, width}, 0.377));
        all[40].copy_(all[7000]);  // equal logits
        redco::kernel::vocabulary_shard head{
            all.narrow(0, rank.rank * columns, columns).to(type), {}, vocabulary, rank.rank * columns};
        if (ranks == 2) head.soft_cap = 1.5;
        at::Tensor const hidden = wave({5, width}, 1.3).to(type);
        at::Tensor logits = at::linear(hidden.to(at::kDouble), all.to(type).to(at::kDouble)).narrow(1, 0, vocabulary);
        if (ranks == 2) logits = at::tanh(logits / 1.5) * 1.5;
        double const near = type == at::kDouble ? 1e-12 : type == at::kFloat ? 1e-5 : 0.05;
        for (std::int64_t const k : {1, 6, 100}) {
          auto const found = redco::kernel::top_entries(hidden, head, k, rank.tp);
          auto const [values, entries] = logits.topk(k, 1);
          auto const must = [&](bool holds, char const* law) {
            std::lock_guard const lock(mutex);
            if (!holds) broken.emplace_back(law);
          };
          must(largest_difference(found.logits, values) < near, "values");
          must(largest_difference(found.logits, logits.gather(1, found.entries)) < near, "their entries");
          must(found.logits.diff().le(0).all().item<bool>(), "the largest first");
          must(largest_difference(found.log_sum, logits.logsumexp(1)) < std::max(near, 1e-12), "the sum");
        }
      });
  CHECK(broken == std::vector<std::string>{});
}

TEST_CASE("among equal logits the lower entry comes first; -inf comes last and NaN first") {
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (auto const type : {at::kDouble, at::kFloat})
    for (int const ranks : {1, 2, 3, 4})
      redco::comm::run_ranks({.tp = ranks}, {}, [&](redco::rank_context& rank) {
        // The only feature is 1, so a row of the head is its logit.
        auto const ids = [&](std::vector<double> const& logits, std::int64_t k) {
          std::int64_t const n = std::ssize(logits), columns = (n + ranks - 1) / ranks;
          at::Tensor const all = at::zeros({columns * ranks, 1}, type);
          all.narrow(0, 0, n).copy_(at::tensor(logits, at::kDouble).unsqueeze(1));
          auto const found = redco::kernel::top_entries(
              at::ones({1, 1}, type), {all.narrow(0, rank.rank * columns, columns), {}, n, rank.rank * columns}, k,
              rank.tp);
          auto const* const at = found.entries.const_data_ptr<std::int64_t>();
          return std::vector<std::int64_t>(at, at + k);
        };
        auto const must = [](bool holds) {
          if (!holds) throw redco::error(redco::exit_code::internal, "another order");
        };
        using list = std::vector<std::int64_t>;
        must(ids({1, 3, 2, 3, 3}, 4) == list{1, 3, 4, 2});
        must(ids(std::vector<double>(300, 0.25), 3) == list{0, 1, 2});
        must(ids({-inf, 5, -inf, 6}, 4) == list{3, 1, 0, 2});
        must(ids({2, 7, std::nan(""), 9}, 2) == list{2, 3});
        std::vector<double> late(200, 1.0);
        late[131] = std::nan("");
        late[77] = 4;
        must(ids(late, 3) == list{131, 77, 0});
      });
}

TEST_CASE("attention to a cache equals attention to the keys that its table names") {
  constexpr std::int64_t rows = 3, seen = 21, heads = 4, d = 10;
  for (auto const type : {at::kDouble, at::kFloat, at::kBFloat16})
    for (std::int64_t const kv_heads : {1, 2, 4})
      for (std::int64_t const queries : {1, 3})
        for (int variant = 0; variant < 5; ++variant) {
          INFO(c10::toString(type) << " kv_heads " << kv_heads << " queries " << queries << " variant " << variant);
          at::Tensor const k = wave({rows, seen, kv_heads * d}, 0.7).to(type);
          at::Tensor const v = wave({rows, seen, kv_heads * d}, 1.9).to(type);
          at::Tensor const q = wave({rows, queries, heads * d}, 0.3).to(type);
          redco::kernel::attention_options o{.heads = heads, .kv_heads = kv_heads, .causal = true};
          o.query0 = seen - queries;
          if (variant == 1) o.window = 6;
          if (variant == 2) o.key_mask = at::arange(seen, at::kLong).ge(at::tensor({0, 5, 20}, at::kLong).unsqueeze(1));
          if (variant == 4) o.soft_cap = 0.3, o.window = 7;
          if (variant == 3) o.bias = wave({heads, 2 * seen + 5}, 0.5).to(type), o.distance0 = seen + 2;
          at::Tensor const wanted = redco::kernel::cross_attention(q, k, v, o);
          // Keys in another order, as every second row of a table.
          at::Tensor const order = (at::arange(rows * seen, at::kLong) * 11 + 5).remainder(rows * seen);
          auto const scattered = [&](at::Tensor const& x) {
            at::Tensor const all = at::full({rows * seen, 2 * kv_heads * d}, 1e9, x.options());
            all.narrow(1, 0, kv_heads * d).index_copy_(0, order, x.flatten(0, 1));
            return all.narrow(1, 0, kv_heads * d);
          };
          at::Tensor const indices = at::full({rows, seen + 4}, -1, at::kInt);
          indices.narrow(1, 0, seen).copy_(order.view({rows, seen}));
          at::Tensor const found =
              redco::kernel::gathered_attention(q, {scattered(k), scattered(v), indices.narrow(1, 0, seen)}, o);
          CHECK(largest_difference(found, wanted) < (type == at::kDouble ? 1e-13 : type == at::kFloat ? 2e-6 : 2e-2));
        }
}

TEST_CASE("attention to a cache refuses tensors that do not fit") {
  at::Tensor const q = at::ones({2, 1, 8}), keys = at::ones({6, 8}), indices = at::zeros({2, 3}, at::kInt);
  redco::kernel::attention_options const o{.heads = 2, .kv_heads = 2};
  CHECK_NOTHROW(redco::kernel::gathered_attention(q, {keys, keys, indices}, o));
  CHECK_THROWS_AS(redco::kernel::gathered_attention(q, {keys.narrow(1, 0, 4), keys, indices}, o), redco::error);
  CHECK_THROWS_AS(redco::kernel::gathered_attention(q, {keys, keys, indices.to(at::kLong)}, o), redco::error);
  CHECK_THROWS_AS(redco::kernel::gathered_attention(q, {keys, keys, indices.narrow(0, 0, 1)}, o), redco::error);
}
