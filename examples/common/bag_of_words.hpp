#pragma once

// A linear model on the counts of words, for comparison with models that read their order.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bag_of_words {

/// A linear classifier (softmax, cross-entropy), or a linear regression if there is one output. The
/// inputs are counts of token ids, separately for the two texts of a pair.
class linear_model {
 public:
  linear_model(std::int64_t vocabulary, std::size_t outputs)
      : vocabulary_(vocabulary), weights_(static_cast<std::size_t>(2 * vocabulary) * outputs), bias_(outputs) {}

  /// Trains by stochastic gradient descent on examples with the members ids, types and label.
  template <class Example>
  void fit(std::span<Example const> examples, int epochs = 20) {
    double const steps = static_cast<double>(examples.size()) * epochs;
    for (std::size_t step = 0; step < examples.size() * static_cast<std::size_t>(epochs); ++step) {
      Example const& one = examples[step % examples.size()];
      std::vector<double> slope = outputs(one);
      if (slope.size() == 1) {
        slope[0] -= one.label;
      } else {
        double const largest = *std::max_element(slope.begin(), slope.end());
        double sum = 0;
        for (double& s : slope) sum += s = std::exp(s - largest);
        for (double& s : slope) s /= sum;
        slope[static_cast<std::size_t>(one.label)] -= 1;
      }
      double const rate = 0.01 * (1 - static_cast<double>(step) / steps);
      for (std::size_t k = 0; k < slope.size(); ++k) {
        for (std::size_t i = 0; i < one.ids.size(); ++i) weights_[row(one, i) + k] -= rate * slope[k];
        bias_[k] -= rate * slope[k];
      }
    }
  }

  /// Returns the class of an example, or its value if there is one output.
  template <class Example>
  double predict(Example const& one) const {
    std::vector<double> const all = outputs(one);
    if (all.size() == 1) return all[0];
    return static_cast<double>(std::max_element(all.begin(), all.end()) - all.begin());
  }

 private:
  template <class Example>
  std::size_t row(Example const& one, std::size_t i) const {
    return static_cast<std::size_t>(one.ids[i] + vocabulary_ * one.types[i]) * bias_.size();
  }

  template <class Example>
  std::vector<double> outputs(Example const& one) const {
    std::vector<double> sums = bias_;
    for (std::size_t i = 0; i < one.ids.size(); ++i)
      for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += weights_[row(one, i) + k];
    return sums;
  }

  std::int64_t vocabulary_;
  std::vector<double> weights_, bias_;
};

/// Trains a linear model on `train`, and returns its class or value for each example of `unseen`.
template <class Example>
std::vector<double> predicted(std::vector<Example> const& train, std::vector<Example> const& unseen,
                              std::int64_t vocabulary, std::size_t outputs) {
  linear_model model(vocabulary, outputs);
  model.fit(std::span<Example const>(train));
  std::vector<double> all;
  for (Example const& one : unseen) all.push_back(model.predict(one));
  return all;
}

}  // namespace bag_of_words
