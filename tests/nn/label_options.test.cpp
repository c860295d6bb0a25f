#include "torch_catch.hpp"

#include <redco/nn/cross_entropy.hpp>
#include <redco/comm/collectives.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/diag/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// Compares losses with label options with torch's. Sums of unequal micro-batches are divided by the
// sum of their counts, and compared with the mean that torch computes over all labels.

namespace label_options_test {

using redco::nn::label_options;

constexpr std::int64_t classes = 7, width = 5;

at::Tensor wave(std::vector<std::int64_t> const& sizes, double phase) {
  at::Tensor const at = at::arange(c10::multiply_integers(sizes), at::kDouble);
  return (at::sin(at * 0.7391 + phase) + at::cos(at * at * 0.013 + phase) * 0.4).view(sizes);
}

at::Tensor labels_of(std::int64_t ignored) {
  at::Tensor labels = (at::arange(3 * 6) * 5 + 2).remainder(classes).view({3, 6});
  labels[1].narrow(0, 1, 4).fill_(ignored);
  return labels;
}

std::vector<label_options> all_options() {
  std::vector<label_options> all;
  at::Tensor const weights = wave({classes}, 0.3).square();
  weights[4] = 0;
  for (std::int64_t const ignored : {-100, 2})
    for (double const smoothing : {0.0, 0.25, 1.0})
      for (bool const weighted : {false, true}) all.push_back({ignored, smoothing, weighted ? weights : at::Tensor()});
  return all;
}

struct mean_of_torch {
  at::Tensor value, of_hidden, of_weight;

  mean_of_torch(at::Tensor const& hidden, at::Tensor const& weight, label_options const& o) {
    at::Tensor const h = hidden.clone().requires_grad_(), w = weight.clone().requires_grad_();
    std::optional<at::Tensor> weights;
    if (o.weights.defined()) weights = o.weights;
    value = at::cross_entropy_loss(at::linear(h, w).flatten(0, 1), labels_of(o.ignored).flatten(), weights,
                                   at::Reduction::Mean, o.ignored, o.smoothing);
    auto const both = torch::autograd::grad({value}, {h, w});
    of_hidden = both[0], of_weight = both[1];
  }
};

double apart(at::Tensor const& a, at::Tensor const& b) { return (a - b).abs().max().item<double>(); }

TEST_CASE("the mean over micro-batches of a language model's loss equals torch's for all label options") {
  at::Tensor const hidden = wave({3, 6, width}, 0.1), weight = wave({classes, width}, 1.1);
  for (int const tp : {1, 2})
    for (label_options const& o : all_options()) {
      CAPTURE(tp, o.ignored, o.smoothing, o.weights.defined());
      mean_of_torch const expected(hidden, weight, o);
      double worst = 0;
      std::mutex mutex;
      redco::comm::run_ranks({.dp = 1, .tp = tp}, {}, [&](redco::rank_context& rank) {
        std::int64_t const rows = (classes + tp - 1) / tp, first = rank.rank * rows;
        at::Tensor const padded = at::cat({weight, at::full({rows * tp - classes, width}, 9.0, weight.options())});
        at::Tensor const part = padded.narrow(0, first, rows).clone().requires_grad_(),
                         x = hidden.clone().requires_grad_();
        double sum = 0, count = 0;
        for (auto const& [begin, length] : {std::pair(0, 1), std::pair(1, 2)}) {
          at::Tensor const some = x.narrow(0, begin, length), labels = labels_of(o.ignored).narrow(0, begin, length);
          auto const entered = redco::comm::enter(redco::tensor<redco::shape::replicated>(some), rank.tp);
          redco::logits const l{entered, part, {}, classes, first, &rank.tp};
          redco::mean const loss = redco::cross_entropy(l, labels, o);
          loss.sum.backward();
          sum += loss.sum.item<double>(), count += loss.count;
        }
        std::int64_t const valid = std::min(rows, classes - first);
        std::lock_guard const lock(mutex);
        worst = std::max({worst, std::abs(sum / count - expected.value.item<double>()),
                          apart(x.grad() / count, expected.of_hidden),
                          apart(part.grad().narrow(0, 0, valid) / count, expected.of_weight.narrow(0, first, valid))});
      });
      CHECK(worst < 1e-12);
    }
}

TEST_CASE("the mean over micro-batches of a classification's loss equals torch's for all label options") {
  at::Tensor const hidden = wave({3, 6, width}, 0.1), weight = wave({classes, width}, 1.1);
  for (label_options const& o : all_options()) {
    CAPTURE(o.ignored, o.smoothing, o.weights.defined());
    mean_of_torch const expected(hidden, weight, o);
    at::Tensor const x = hidden.clone().requires_grad_(), w = weight.clone().requires_grad_();
    double sum = 0, count = 0;
    for (auto const& [begin, length] : {std::pair(0, 1), std::pair(1, 2)}) {
      redco::mean const loss = redco::cross_entropy(at::linear(x.narrow(0, begin, length), w),
                                                    labels_of(o.ignored).narrow(0, begin, length), o);
      loss.sum.backward();
      sum += loss.sum.item<double>(), count += loss.count;
    }
    CHECK(std::abs(sum / count - expected.value.item<double>()) < 1e-12);
    CHECK(apart(x.grad() / count, expected.of_hidden) < 1e-12);
    CHECK(apart(w.grad() / count, expected.of_weight) < 1e-12);
  }
}

TEST_CASE("wrong label options are refused in one sentence") {
  auto const refusal = [](label_options const& o, std::int64_t label = 1) -> std::string {
    try {
      redco::cross_entropy(at::zeros({2, 3}), at::tensor({std::int64_t{0}, label}), o);
    } catch (redco::error const& e) {
      return std::to_string(static_cast<int>(e.code())) + " " + e.what();
    }
    return "";
  };
  CHECK(refusal({.smoothing = 1.5}) == "64 cross_entropy: label smoothing is 1.500000; give a number from 0 to 1");
  CHECK(refusal({.smoothing = -0.1}).starts_with("64 cross_entropy: label smoothing is -0.1"));
  CHECK(refusal({.smoothing = std::numeric_limits<double>::quiet_NaN()}).starts_with("64 cross_entropy: label"));
  CHECK(refusal({.weights = at::ones({4})}) ==
        "64 cross_entropy: class weights are Float [4]; give one number for each of 3 classes");
  CHECK(refusal({.weights = at::ones({3}, at::kLong)}).starts_with("64 cross_entropy: class weights are Long [3]"));
  CHECK(refusal({.weights = at::tensor({1.0, -2.0, 1.0})}) ==
        "64 cross_entropy: the weight of class 1 is -2.000000; give a finite number of at least 0");
  CHECK(refusal({.weights = at::tensor({1.0, 1.0, std::numeric_limits<double>::infinity()})})
            .starts_with("64 cross_entropy: the weight of class 2 is inf"));
  CHECK(refusal({.ignored = 2}, -100).find("give 0 to 2, or 2 for what does not count") != std::string::npos);
  CHECK(refusal({.ignored = 7}, 7) == "");
}

}  // namespace label_options_test
