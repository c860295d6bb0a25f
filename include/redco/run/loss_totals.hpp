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

/// The sums and counts of a loss and its terms, added over micro-batches and then over ranks. Each
/// term's mean divides by its own count.
class loss_totals {
 public:
  static constexpr std::size_t most_terms = cost::most_loss_terms;

  /// Throws `error` with exit code 64 for a loss without terms or with more than `most_terms`
  /// terms.
  static void check(terms const& loss);

  /// Adds the loss of one micro-batch. Sums on a device are read later, in reduce(), so that the
  /// device need not wait.
  void add(terms const& loss);

  /// Sums the totals over all ranks; each rank calls it once. Returns true if any rank passed true
  /// as `flag`.
  bool reduce(rank_context& rank, bool flag = false);

  /// Returns the sum of the terms' means, each times its factor; NaN if nothing counted.
  double loss() const;

  /// Returns the largest count of a term: tokens or examples; 0 if nothing counted.
  double weight() const;

  /// Returns each term's mean without its factor, by name; NaN if nothing counted in the term.
  /// Empty on ranks that had no examples; rank 0 always has some.
  std::vector<std::pair<std::string, double>> by_name() const;

  /// Returns the mean of each term by name, and the total loss under "loss".
  metric_map metrics() const;

 private:
  double count(std::size_t term) const { return sums_[3 * term + 2]; }

  /// Returns the mean of one column of a term; NaN if nothing counted in the term.
  double average(std::size_t term, std::size_t column) const {
    return count(term) > 0 ? sums_[3 * term + column] / count(term) : std::numeric_limits<double>::quiet_NaN();
  }

  void add_sum(std::size_t term, double sum, double factor) {
    sums_[3 * term] += sum * factor;
    sums_[3 * term + 1] += sum;
  }

  void read_devices();

  /// Three numbers per term: sum times factor, sum, count. The last number is the flag of reduce().
  std::array<double, cost::loss_total_numbers> sums_{};
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
