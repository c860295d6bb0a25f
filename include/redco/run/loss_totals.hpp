#pragma once

#include <redco/run/network_state.hpp>
#include <redco/comm/group.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/comm/replica_round.hpp>
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

/// The sums and counts of a loss and its terms, added up over micro-batches and then over ranks.
/// The mean of a term is its sum divided by its own count.
class loss_totals {
 public:
  static constexpr std::size_t most_terms = cost::most_loss_terms;

  /// Throws `error` with exit code 64 for a loss without terms or with more than `most_terms`
  /// terms.
  static void check(terms const& loss);

  /// Adds the loss of one micro-batch. Values on a device are copied to the CPU later, in reduce(),
  /// so that the CPU need not wait for the device here.
  void add(terms const& loss);

  /// Adds token ids of this rank, without padding, to the totals.
  void add_tokens(std::int64_t count) { sums_.back() += static_cast<double>(count); }

  /// Sums the totals over all ranks; each rank calls it once. Returns true if `flag` is true on at
  /// least one rank.
  bool reduce(rank_context& rank, bool flag = false);

  /// Returns the loss: the sum over the terms of mean times factor; NaN if no token or example
  /// counted.
  double loss() const;

  /// Returns the largest count of a term, in tokens or examples; 0 if none counted.
  double weight() const;

  /// Returns the number of token ids that all replicas have added.
  double tokens() const { return sums_.back(); }

  /// Returns each term's name and its mean without the factor; the mean is NaN if the term's count
  /// is 0. Empty on ranks that had no examples; rank 0 always has some.
  std::vector<std::pair<std::string, double>> by_name() const;

  /// Returns the mean of each term under the term's name, and the total loss under "loss".
  options::metric_map metrics() const;

 private:
  double count(std::size_t term) const { return sums_[3 * term + 2]; }

  /// Returns number `column` of a term (0: sum times factor, 1: sum) divided by the term's count;
  /// NaN if the count is 0.
  double average(std::size_t term, std::size_t column) const {
    return count(term) > 0 ? sums_[3 * term + column] / count(term) : std::numeric_limits<double>::quiet_NaN();
  }

  void add_sum(std::size_t term, double sum, double factor) {
    sums_[3 * term] += sum * factor;
    sums_[3 * term + 1] += sum;
  }

  void read_devices();

  /// Value of the flag of reduce(), which is sent in one number with the tokens. A step has fewer
  /// tokens, and the sum of 4,096 flags is an exact integer.
  static constexpr double flag_value = 1099511627776;  // 2^40

  /// Totals: three numbers per term (sum times factor, sum, count), then the number of tokens.
  std::array<double, cost::loss_total_numbers> sums_{};
  std::vector<std::string> names_;

  struct unread {
    at::Tensor sum;
    std::size_t term;
    double factor;
  };
  std::vector<unread> on_device_;
};

/// Returns the count (tokens or examples) of each loss term, summed over the replicas. All replicas
/// call it; a replica without a micro-batch passes a loss without terms.
inline std::vector<double> counts_of_replicas(terms const& loss, comm::replica_round const& round) {
  std::vector<double> counts(loss_totals::most_terms, 0);
  for (std::size_t i = 0; i < loss.all.size(); ++i) counts[i] = loss.all[i].loss.count;
  comm::collective_label const label("loss counts");
  at::Tensor const sums = round.sum(at::tensor(counts, at::kDouble));
  return {sums.const_data_ptr<double>(), sums.const_data_ptr<double>() + sums.numel()};
}

/// Returns the scalar from which backward starts for one micro-batch; undefined if no token or
/// example counted. For a loss of one term, the scalar is the term's sum; the step divides the
/// gradient by the global count later. For several terms, the scalar adds up each term's sum
/// divided by its count in `counts`. Throws `error` with exit code 64 for several terms without
/// `counts`.
at::Tensor sum_to_differentiate(terms const& loss, std::vector<double> const& counts);

/// Runs backward from the scalar `sum` and adds the gradients to the flat buffer of the parameter
/// store. Throws `error` with exit code 70 if `sum` depends on no trained parameter, or if a
/// parameter's gradient is no longer a view of the flat buffer.
void add_gradient(network_state const& state, at::Tensor const& sum);

/// Throws `error` with exit code 70 if a parameter's gradient is no longer a view of the flat
/// buffer.
void check_gradients(network_state const& state);

inline at::Tensor sum_to_differentiate(terms const& loss, std::vector<double> const& counts) {
  if (counts.empty() && loss.all.size() != 1)
    throw error(exit_code::usage, "a step of one's own adds a loss of " + std::to_string(loss.all.size()) +
                                      " terms, but the pipeline's loss has one: let it return redco::terms too");
  at::Tensor sum;
  for (std::size_t i = 0; i < loss.all.size(); ++i) {
    auto const& [name, one, factor] = loss.all[i];
    if (!counts.empty() && counts[i] == 0) continue;
    double const scale = counts.empty() ? factor : factor / counts[i];
    at::Tensor const share = scale == 1 ? one.sum : one.sum * scale;
    sum = sum.defined() ? sum + share : share;
  }
  return sum;
}

}  // namespace redco::run

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/run/loss_totals.inl.hpp>
#endif
