#pragma once

#include <redco/metrics/detail/pairs.hpp>

#include <cstdint>
#include <map>

namespace redco {

/// The method that combines the F1 scores of all classes into one number.
enum class f1_average : std::uint8_t {
  /// Mean of the scores over the classes that are predicted or expected.
  macro,
  /// Score of all classes' decisions together, which equals the accuracy.
  micro,
  /// Score of the class `positive` alone.
  binary,
};

/// Returns the F1 score (van Rijsbergen 1979), 2 tp / (2 tp + fp + fn), from 0 to 1, as
/// scikit-learn's f1_score does. The ranges hold integer labels; a class without decisions scores
/// 0. Throws `error` with exit code 65 if the ranges are empty or differ in length.
template <class Predicted, class Expected>
double f1_score(Predicted const& predicted, Expected const& expected, f1_average average, std::int64_t positive = 1) {
  struct decisions {
    double right = 0, all = 0;  ///< true positives (tp), and 2 tp + fp + fn

    double f1() const { return all > 0 ? 2 * right / all : 0; }
  };
  std::map<std::int64_t, decisions> classes;
  decisions together;
  detail::for_each_pair("f1_score", predicted, expected, [&](auto const& p, auto const& e) {
    auto const said = static_cast<std::int64_t>(p), is = static_cast<std::int64_t>(e);
    for (decisions* const one : {&classes[said], &together}) one->all += 1, one->right += said == is ? 1 : 0;
    for (decisions* const one : {&classes[is], &together}) one->all += 1;
  });
  if (average == f1_average::binary) return classes[positive].f1();
  if (average == f1_average::micro) return together.f1();
  double sum = 0;
  for (auto const& [label, one] : classes) sum += one.f1();
  return sum / static_cast<double>(classes.size());
}

}  // namespace redco
