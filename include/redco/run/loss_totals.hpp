#pragma once

#include <redco/comm/rank_context.hpp>
#include <redco/tensor/loss.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/cost/messages.hpp>
#include <redco/options/fit_options.hpp>

#include <redco/diag/error.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace redco::run {

/// The loss and its terms, added up over micro-batches and then over ranks; each term is divided by its own count.
class loss_totals {
 public:
  static constexpr std::size_t most_terms = cost::most_loss_terms;

  /// Errors: exit code 64 for a loss without terms or with more than are told apart.
  static void check(terms const& loss);

  /// Takes in one micro-batch's loss. What lies on a device is read when ranks add up: the device goes on meanwhile.
  void add(terms const& loss);

  /// Adds up over all ranks, each of which calls it once, and tells whether some rank raised `flag`.
  bool reduce(rank_context& rank, bool flag = false);

  /// The mean over everything that counted, terms weighed by their factors; NaN where nothing
  /// counted.
  double loss() const;

  /// How much counted: tokens or examples.
  double weight() const;

  /// Each term without its factor, by name, NaN where nothing counted in it; only on ranks that had
  /// examples, as rank 0 always has.
  std::vector<std::pair<std::string, double>> by_name() const;

  /// The terms with the mean over everything, "loss".
  metric_map metrics() const;

 private:
  double count(std::size_t term) const { return sums_[3 * term + 2]; }

  /// NaN where nothing counted.
  double average(std::size_t term, std::size_t column) const {
    return count(term) > 0 ? sums_[3 * term + column] / count(term) : std::numeric_limits<double>::quiet_NaN();
  }

  void add_sum(std::size_t term, double sum, double factor) {
    sums_[3 * term] += sum * factor;
    sums_[3 * term + 1] += sum;
  }

  void read_devices();

  std::array<double, cost::loss_total_numbers> sums_{};  ///< per term: sum times factor, sum, count; then the flag
  std::vector<std::string> names_;

  struct unread {
    at::Tensor sum;
    std::size_t term;
    double factor;
  };
  std::vector<unread> on_device_;
};

}  // namespace redco::run

#ifndef REDCO_COMPILED
#include <redco/run/loss_totals.inl.hpp>
#endif
