#include "torch_catch.hpp"

#include "gradcheck.hpp"
#include "vocabulary_head.hpp"

#include <redco/kernel/cross_entropy.hpp>
#include <redco/comm/collectives.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/diag/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace {

using redco::kernel::cross_entropy;
using redco::kernel::cross_entropy_options;
using redco::kernel::vocabulary_shard;

// Returns the part of an unsharded gradient that belongs to a shard, zero in the padding.
at::Tensor entropy_part(at::Tensor const& whole, vocabulary_shard const& head) {
  auto out = at::zeros_like(head.weight.dim() == whole.dim() ? head.weight : head.bias, whole.options());
  if (head.valid() > 0) out.narrow(0, 0, head.valid()).copy_(whole.narrow(0, head.first, head.valid()));
  return out.detach();
}

void entropy_compare(int ranks, std::int64_t vocabulary, bool with_bias, at::ScalarType type, double tolerance,
                     cross_entropy_options const& options = {.chunk_rows = 5}, double soft_cap = 0) {
  CAPTURE(ranks, vocabulary, with_bias, soft_cap, at::toString(type), options.ignored, options.smoothing,
          options.weights.defined());
  auto const hidden = head_random({13, 6}, type, 1);
  auto const weight = head_random({vocabulary, 6}, type, 2),
             bias = with_bias ? head_random({vocabulary}, type, 3) : at::Tensor();
  auto labels = (at::arange(13) * 5 + 2).remainder(vocabulary);
  labels[4] = options.ignored, labels[12] = options.ignored, labels[0] = vocabulary - 1;

  auto const h = hidden.to(at::kDouble).detach().clone().requires_grad_(),
             w = weight.to(at::kDouble).detach().clone().requires_grad_();
  auto const b = with_bias ? bias.to(at::kDouble).detach().clone().requires_grad_() : at::Tensor();
  std::optional<at::Tensor> const weights = options.weights.defined() ? std::optional(options.weights) : std::nullopt;
  auto logits = at::linear(h, w, b);
  if (soft_cap > 0) logits = at::tanh(logits / soft_cap) * soft_cap;
  auto const expected =
      at::cross_entropy_loss(logits, labels, weights, at::Reduction::Sum, options.ignored, options.smoothing);
  std::int64_t const counted = labels.ne(options.ignored).sum().item<std::int64_t>();
  (expected * 0.37).backward();

  std::mutex mutex;
  double worst = 0;
  std::vector<at::Tensor> hidden_parts(static_cast<std::size_t>(ranks)), sums(static_cast<std::size_t>(ranks));
  redco::comm::run_ranks({.dp = 1, .tp = ranks}, {}, [&](redco::rank_context& rank) {
    auto head = head_shard(weight, bias, rank.rank, ranks);
    head.soft_cap = soft_cap;
    auto const x = hidden.detach().clone().requires_grad_();
    auto const [sum, count] = cross_entropy(x, head, labels, rank.tp, options);
    (sum * 0.37).backward();
    std::lock_guard const lock(mutex);
    auto const see = [&](double difference) { worst = std::max(worst, difference); };
    if (count != counted) see(1);
    if (x.grad().scalar_type() != type || head.weight.grad().scalar_type() != type) see(1);
    see(head_difference(sum, expected) / 11);
    see(head_difference(head.weight.grad(), entropy_part(w.grad(), head)));
    if (with_bias) see(head_difference(head.bias.grad(), entropy_part(b.grad(), head)));
    hidden_parts[static_cast<std::size_t>(rank.rank)] = x.grad().to(at::kDouble);
    sums[static_cast<std::size_t>(rank.rank)] = sum.detach();
  });
  CHECK(worst < tolerance);
  auto total = at::zeros({13, 6}, at::kDouble);
  for (auto const& part : hidden_parts) total += part;
  CHECK(head_difference(total, h.grad()) < tolerance);
  for (auto const& sum : sums) CHECK(at::equal(sum, sums[0]));
}

TEST_CASE("vocabulary-parallel cross entropy equals the dense one on any number of ranks") {
  for (int const ranks : {1, 2, 3}) {
    for (std::int64_t const vocabulary : {11, 40, 131}) {
      for (bool const with_bias : {false, true}) {
        entropy_compare(ranks, vocabulary, with_bias, at::kDouble, 1e-12);
        entropy_compare(ranks, vocabulary, with_bias, at::kFloat, 4e-6);
        // Logits up to 8 and the ranks' gradients up to 8 are rounded to 8 bits.
        entropy_compare(ranks, vocabulary, with_bias, at::kBFloat16, 4e-2);
      }
    }
  }
}

TEST_CASE("label smoothing, class weights and an ignored class equal torch's on any number of ranks") {
  for (int const ranks : {1, 2, 3})
    for (std::int64_t const vocabulary : {5, 40, 131})
      for (std::int64_t const ignored : {-100, 3})
        for (auto const& [smoothing, weighted] :
             {std::pair(0.3, false), std::pair(0.0, true), std::pair(0.3, true), std::pair(1.0, true)}) {
          cross_entropy_options options{.ignored = ignored, .chunk_rows = 5, .smoothing = smoothing};
          if (weighted) {
            options.weights = head_random({vocabulary}, at::kDouble, 17).square();
            options.weights[2] = 0;
          }
          entropy_compare(ranks, vocabulary, true, at::kDouble, 1e-12, options);
          entropy_compare(ranks, vocabulary, false, at::kFloat, 2e-5, options);
          entropy_compare(ranks, vocabulary, true, at::kBFloat16, 2e-1, options);
        }
  cross_entropy_options const padded{.chunk_rows = 5, .smoothing = 0.2, .weights = at::arange(5, at::kDouble)};
  entropy_compare(4, 5, true, at::kDouble, 1e-12, padded);  // The last rank has padding only.
}

TEST_CASE("cross entropy of logits with a soft cap equals the dense one on any number of ranks") {
  for (int const ranks : {1, 3}) {
    for (double const soft_cap : {0.7, 4.0}) {
      entropy_compare(ranks, 131, true, at::kDouble, 1e-12, {.chunk_rows = 5}, soft_cap);
      entropy_compare(ranks, 131, false, at::kFloat, 4e-6, {.chunk_rows = 5}, soft_cap);
      entropy_compare(ranks, 131, true, at::kBFloat16, 4e-2, {.chunk_rows = 5}, soft_cap);
    }
  }
  cross_entropy_options const smooth{
      .chunk_rows = 5, .smoothing = 0.3, .weights = head_random({131}, at::kDouble, 17).square()};
  entropy_compare(3, 131, true, at::kDouble, 1e-12, smooth, 0.7);
  entropy_compare(3, 131, false, at::kFloat, 2e-5, smooth, 4.0);
}

TEST_CASE("a large odd vocabulary with strided rows of logits gives the dense cross entropy") {
  for (int const ranks : {1, 2}) {  // 8197 and 4099 columns
    for (bool const with_bias : {false, true}) {
      entropy_compare(ranks, 8197, with_bias, at::kDouble, 1e-12);
      // The sums have 8197 addends instead of 131
      entropy_compare(ranks, 8197, with_bias, at::kFloat, 2e-5);
      entropy_compare(ranks, 8197, with_bias, at::kBFloat16, 4e-2);
    }
  }
}

TEST_CASE("a rank whose columns are all padding takes part in cross entropy") {
  entropy_compare(4, 5, true, at::kDouble, 1e-12);  // two rows each: 2, 2, 1, 0
  entropy_compare(4, 5, true, at::kFloat, 4e-6);
}

TEST_CASE("cross entropy stays finite for large logits and is unchanged by the size of chunks") {
  redco::comm::run_ranks({.dp = 1, .tp = 1}, {}, [](redco::rank_context& rank) {
    auto const hidden = head_random({9, 4}, at::kDouble, 4), weight = head_random({7, 4}, at::kDouble, 5) * 500;
    auto const labels = at::arange(9).remainder(7);
    auto const dense = at::cross_entropy_loss(at::linear(hidden, weight), labels, {}, at::Reduction::Sum);
    for (std::int64_t const chunk : {1, 4, 9, 1000}) {
      auto const own =
          cross_entropy(hidden, {.weight = weight, .vocabulary = 7}, labels, rank.tp, {.chunk_rows = chunk});
      if (head_difference(own.sum, dense) > 1e-9 || !std::isfinite(own.sum.item<double>()))
        throw std::runtime_error("does not hold: chunks of any size give the same");
    }
  });
}

TEST_CASE("without gradients cross entropy saves nothing and all labels may be ignored") {
  redco::comm::run_ranks({.dp = 1, .tp = 2}, {}, [](redco::rank_context& rank) {
    vocabulary_shard const head{.weight = head_random({6, 4}, at::kFloat, 6), .vocabulary = 11, .first = 6 * rank.rank};
    auto const own = cross_entropy(head_random({3, 4}, at::kFloat, 7), head, at::full({3}, -100, at::kLong), rank.tp);
    if (own.count != 0 || own.sum.item<double>() != 0 || own.sum.grad_fn())
      throw std::runtime_error("does not hold: nothing is saved, summed or counted");
  });
}

TEST_CASE("a label outside the vocabulary is a data error that names it") {
  redco::comm::run_ranks({.dp = 1, .tp = 1}, {}, [](redco::rank_context& rank) {
    vocabulary_shard const head{.weight = at::zeros({12, 4}), .vocabulary = 11};
    auto const message = [&](std::int64_t label) -> std::string {
      try {
        cross_entropy(at::zeros({2, 4}), head, at::tensor({std::int64_t{3}, label}), rank.tp);
      } catch (redco::error const& e) {
        return e.code() == redco::exit_code::data ? e.what() : "wrong code";
      }
      return "";
    };
    if (message(11).find("label 11 at row 1") == std::string::npos ||
        message(-1).find("label -1") == std::string::npos) {
      throw std::runtime_error("does not hold: the label is refused");
    }
  });
}

TEST_CASE("first and second derivatives of cross entropy agree with central differences") {
  std::vector<double> worst(6);
  for (int const ranks : {1, 2, 3}) {
    redco::comm::run_ranks({.dp = 1, .tp = ranks}, {}, [&](redco::rank_context& rank) {
      auto const shard =
          head_shard(head_random({5, 3}, at::kDouble, 8), head_random({5}, at::kDouble, 9), rank.rank, ranks);
      auto const labels = at::tensor({4, -100, 0, 2}).to(at::kLong);
      // The whole function as a model uses it: hidden enters the split, so its gradient is complete
      // on each rank.
      auto const f = [&](std::vector<at::Tensor> const& x) {
        auto const h = redco::comm::enter(redco::tensor<redco::shape::replicated>(x[0]), rank.tp).local();
        double const soft_cap = ranks == 3 ? 0 : 0.9;
        return cross_entropy(h, {x[1], x[2], 5, shard.first, soft_cap}, labels, rank.tp, {.chunk_rows = 3})
            .sum.square();
      };
      std::vector<at::Tensor> const hidden{head_random({4, 3}, at::kDouble, 10).requires_grad_()};
      // Every rank varies hidden in the same way. Weights and bias stay constant, because one
      // rank's change would not reach another rank.
      auto const of_hidden = [&](std::vector<at::Tensor> const& x) { return f({x[0], shard.weight, shard.bias}); };
      double const first = gradcheck::first(of_hidden, hidden), second = gradcheck::second(of_hidden, hidden);
      if (ranks == 1) {
        std::vector<at::Tensor> const all{hidden[0], shard.weight, shard.bias};
        worst[4] = gradcheck::first(f, all), worst[5] = gradcheck::second(f, all);
      }
      if (rank.rank == 0) worst[0] = std::max(worst[0], first), worst[1] = std::max(worst[1], second);
      if (rank.rank == ranks - 1) worst[2] = std::max(worst[2], first), worst[3] = std::max(worst[3], second);
    });
  }
  for (auto const error : worst) CHECK(error < 2e-6);
}

TEST_CASE("second derivatives of a weighted loss with respect to weight shards equal the dense loss's") {
  auto const hidden = head_random({4, 3}, at::kDouble, 11), weight = head_random({5, 3}, at::kDouble, 12);
  auto const labels = at::tensor({4, 1, -100, 2}).to(at::kLong);
  auto const whole = weight.detach().clone().requires_grad_();
  at::Tensor const weights = head_random({5}, at::kDouble, 13).square();
  auto const loss = at::cross_entropy_loss(at::linear(hidden, whole), labels, weights, at::Reduction::Sum, -100, 0.3);
  auto const g = torch::autograd::grad({loss}, {whole}, {}, true, true)[0];
  auto const expected = torch::autograd::grad({(g * g).sum()}, {whole})[0];
  std::vector<double> worst(3);
  redco::comm::run_ranks({.dp = 1, .tp = 3}, {}, [&](redco::rank_context& rank) {
    auto const head = head_shard(weight, {}, rank.rank, 3);
    auto const own = cross_entropy(hidden, head, labels, rank.tp, {.smoothing = 0.3, .weights = weights}).sum;
    auto const d = torch::autograd::grad({own}, {head.weight}, {}, true, true)[0];
    // Each rank adds its part of the sum of squares. The derivatives of the other parts with
    // respect to this shard return through `enter`.
    auto const squares = redco::comm::reduce(redco::tensor<redco::shape::partial>((d * d).sum()), rank.tp).local();
    auto const second = torch::autograd::grad({squares}, {head.weight})[0];
    worst[static_cast<std::size_t>(rank.rank)] = head_difference(second, entropy_part(expected, head));
  });
  for (auto const error : worst) CHECK(error < 1e-12);
}

}  // namespace
