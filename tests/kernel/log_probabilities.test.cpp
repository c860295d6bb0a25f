#include "torch_catch.hpp"

#include "gradcheck.hpp"
#include "vocabulary_head.hpp"

#include <redco/kernel/log_probabilities.hpp>
#include <redco/comm/collectives.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/tensor/kernel_set.hpp>
#include <redco/diag/error.hpp>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace {

using redco::kernel::log_probabilities;
using redco::kernel::vocabulary_shard;
using redco::tensors::kernel_set;

// Compares values and gradients with at::log_softmax and gather in f64. Each row has its own
// gradient.
void compare(int ranks, std::int64_t vocabulary, bool with_bias, at::ScalarType type, double tolerance,
             double soft_cap = 0) {
  CAPTURE(ranks, vocabulary, with_bias, soft_cap, at::toString(type));
  auto const hidden = head_random({13, 6}, type, 1), weight = head_random({vocabulary, 6}, type, 2),
             bias = with_bias ? head_random({vocabulary}, type, 3) : at::Tensor(),
             factors = head_random({13}, at::kDouble, 4);
  auto labels = (at::arange(13) * 5 + 2).remainder(vocabulary);
  labels[4] = -100, labels[12] = -100, labels[0] = vocabulary - 1;

  auto const leaf = [](at::Tensor const& x) { return x.to(at::kDouble).detach().clone().requires_grad_(); };
  auto const h = leaf(hidden), w = leaf(weight), b = with_bias ? leaf(bias) : at::Tensor();
  auto logits = at::linear(h, w, b);
  if (soft_cap > 0) logits = at::tanh(logits / soft_cap) * soft_cap;
  auto const all = at::log_softmax(logits, 1);
  auto const expected = all.gather(1, labels.clamp_min(0).unsqueeze(1)).squeeze(1).masked_fill(labels.eq(-100), 0);
  (expected * factors).sum().backward();

  std::mutex mutex;
  double worst = 0;
  std::vector<at::Tensor> hidden_parts(static_cast<std::size_t>(ranks)), values(static_cast<std::size_t>(ranks));
  redco::comm::run_ranks({.dp = 1, .tp = ranks}, {}, [&](redco::rank_context& rank) {
    auto head = head_shard(weight, bias, rank.rank, ranks);
    head.soft_cap = soft_cap;
    auto const x = hidden.detach().clone().requires_grad_();
    auto const found = log_probabilities(x, head, labels, rank.tp, {.chunk_rows = 5});
    (found * factors.to(found.scalar_type())).sum().backward();
    std::lock_guard const lock(mutex);
    auto const see = [&](at::Tensor const& one, at::Tensor const& other) {
      worst = std::max(worst, head_difference(one, other));
    };
    auto const see_part = [&](at::Tensor const& part, at::Tensor const& whole) {
      see(part.narrow(0, 0, head.valid()), whole.narrow(0, std::min(head.first, vocabulary), head.valid()));
      see(part.narrow(0, head.valid(), part.size(0) - head.valid()).sum(), at::zeros({}));
    };
    if (x.grad().scalar_type() != type || head.weight.grad().scalar_type() != type) worst = 1;
    see(found, expected);
    if (head.valid() > 0) see_part(head.weight.grad(), w.grad());
    if (head.valid() > 0 && with_bias) see_part(head.bias.grad(), b.grad());
    hidden_parts[static_cast<std::size_t>(rank.rank)] = x.grad().to(at::kDouble);
    values[static_cast<std::size_t>(rank.rank)] = found.detach();
  });
  auto total = at::zeros({13, 6}, at::kDouble);
  for (auto const& part : hidden_parts) total += part;
  CHECK(std::max(worst, head_difference(total, h.grad())) < tolerance);
  for (auto const& one : values) CHECK(at::equal(one, values[0]));
}

}  // namespace

TEST_CASE("log-probabilities of labels equal log_softmax and gather on any number of ranks") {
  for (kernel_set const set : {kernel_set::fastest, kernel_set::composed}) {
    redco::tensors::forced_kernel_set const forced(set);
    for (int const ranks : {1, 2, 3}) {
      for (std::int64_t const vocabulary : {11, 131}) {
        for (bool const with_bias : {false, true}) {
          compare(ranks, vocabulary, with_bias, at::kDouble, 1e-12);
          compare(ranks, vocabulary, with_bias, at::kFloat, 1e-5);
          // Logits up to 8 and the ranks' gradients up to 8 are rounded to 8 bits.
          compare(ranks, vocabulary, with_bias, at::kBFloat16, 8e-2);
        }
      }
    }
  }
}

TEST_CASE("log-probabilities of logits with a soft cap equal log_softmax on any number of ranks") {
  for (kernel_set const set : {kernel_set::fastest, kernel_set::composed}) {
    redco::tensors::forced_kernel_set const forced(set);
    for (int const ranks : {1, 3}) {
      compare(ranks, 131, true, at::kDouble, 1e-12, 0.7);
      compare(ranks, 131, false, at::kFloat, 1e-5, 4);
    }
  }
}

TEST_CASE("a rank whose columns are all padding takes part in log-probabilities") {
  compare(4, 5, true, at::kDouble, 1e-12);  // two rows each: 2, 2, 1, 0
}

TEST_CASE("log-probabilities of large logits are finite, and equal with chunks of any size") {
  for (kernel_set const set : {kernel_set::fastest, kernel_set::composed}) {
    redco::tensors::forced_kernel_set const forced(set);
    redco::comm::run_ranks({.dp = 1, .tp = 1}, {}, [](redco::rank_context& rank) {
      auto const hidden = head_random({9, 4}, at::kDouble, 4), weight = head_random({7, 4}, at::kDouble, 5) * 500;
      auto const labels = at::arange(9).remainder(7);
      auto const dense = at::log_softmax(at::linear(hidden, weight), 1).gather(1, labels.unsqueeze(1)).squeeze(1);
      for (std::int64_t const chunk : {1, 4, 9, 1000}) {
        auto const own =
            log_probabilities(hidden, {.weight = weight, .vocabulary = 7}, labels, rank.tp, {.chunk_rows = chunk});
        if (!(head_difference(own, dense) < 1e-9))
          throw std::runtime_error("does not hold: chunks of any size give the same");
      }
    });
  }
}

TEST_CASE("log-probabilities of ignored labels alone are 0, with a gradient of 0") {
  redco::comm::run_ranks({.dp = 1, .tp = 1}, {}, [](redco::rank_context& rank) {
    auto const hidden = head_random({9, 4}, at::kFloat, 4).requires_grad_(),
               weight = head_random({7, 4}, at::kFloat, 5).requires_grad_();
    auto const found = log_probabilities(hidden, {.weight = weight, .vocabulary = 7}, at::full({9}, -100, at::kLong),
                                         rank.tp, {.chunk_rows = 4});
    found.sum().backward();
    for (at::Tensor const& x : {found, hidden.grad(), weight.grad()})
      if (!x.eq(0).all().item<bool>()) throw std::runtime_error("does not hold: ignored labels count nothing");
  });
}

TEST_CASE("log_probabilities refuses a label outside the vocabulary and shapes that do not fit") {
  redco::comm::run_ranks({.dp = 1, .tp = 1}, {}, [](redco::rank_context& rank) {
    vocabulary_shard const head{.weight = at::zeros({12, 4}), .vocabulary = 11};
    auto const message = [&](std::int64_t width, std::int64_t label, redco::exit_code code) -> std::string {
      try {
        log_probabilities(at::zeros({2, width}), head, at::tensor({std::int64_t{3}, label}), rank.tp);
      } catch (redco::error const& e) {
        return e.code() == code ? e.what() : "wrong code";
      }
      return "";
    };
    if (message(4, 11, redco::exit_code::data).find("log_probabilities: label 11 at row 1") == std::string::npos ||
        message(4, -1, redco::exit_code::data).find("label -1") == std::string::npos ||
        message(5, 0, redco::exit_code::internal).find("log_probabilities: needs hidden") == std::string::npos) {
      throw std::runtime_error("does not hold: the label is refused");
    }
  });
}

TEST_CASE("first and second derivatives of log-probabilities agree with central differences") {
  std::vector<double> worst(4);
  for (int const ranks : {1, 2}) {
    redco::comm::run_ranks({.dp = 1, .tp = ranks}, {}, [&](redco::rank_context& rank) {
      auto const shard =
          head_shard(head_random({5, 3}, at::kDouble, 8), head_random({5}, at::kDouble, 9), rank.rank, ranks);
      auto const labels = at::tensor({4, -100, 0, 2}).to(at::kLong);
      auto const f = [&](std::vector<at::Tensor> const& x) {
        auto const h = redco::comm::enter(redco::tensor<redco::shape::replicated>(x[0]), rank.tp).local();
        return log_probabilities(h, {x[1], x[2], 5, shard.first, ranks == 1 ? 0.9 : 0}, labels, rank.tp,
                                 {.chunk_rows = 3})
            .square();
      };
      // Every rank varies hidden in the same way. Weights and bias vary on one rank only, because
      // one rank's change would not reach another rank.
      std::vector<at::Tensor> const hidden{head_random({4, 3}, at::kDouble, 10).requires_grad_()};
      auto const of_hidden = [&](std::vector<at::Tensor> const& x) { return f({x[0], shard.weight, shard.bias}); };
      double const first = gradcheck::first(of_hidden, hidden), second = gradcheck::second(of_hidden, hidden);
      if (rank.rank == 0) worst[0] = std::max(worst[0], first), worst[1] = std::max(worst[1], second);
      if (ranks > 1) return;
      std::vector<at::Tensor> const all{hidden[0], shard.weight, shard.bias};
      worst[2] = gradcheck::first(f, all), worst[3] = gradcheck::second(f, all);
    });
  }
  for (auto const error : worst) CHECK(error < 2e-6);
}
