#pragma once

#include <redco/diag/error.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>

namespace redco::metrics {

/// Returns the perplexity exp(loss / count) of a language model, where `loss` is the sum of the
/// cross-entropies of `count` tokens in nats (Jelinek 1977). The range is 1 to infinity: infinity
/// if `loss` is infinite or the result overflows. Throws `error` with exit code 65 if `loss` is
/// NaN or minus infinity, or `count` is less than 1.
inline double perplexity(double loss, std::int64_t count) {
  if (count < 1 || std::isnan(loss) || loss == -HUGE_VAL)
    throw error(exit_code::data, "perplexity of a loss of " + std::to_string(loss) + " over " + std::to_string(count) +
                                     " tokens: give a summed loss and at least 1 token");
  return std::exp(loss / static_cast<double>(count));
}

/// Returns the perplexity of several batches: exp(sum of `losses` / sum of `counts`). Element i of
/// each range belongs to batch i; a batch without tokens has the count 0. Throws `error` with exit
/// code 65 if the ranges differ in length, a loss is NaN or minus infinity, a count is negative, or
/// no batch has tokens.
template <class Losses, class Counts>
  requires requires(Losses const& losses, Counts const& counts) { std::size(losses), std::size(counts); }
double perplexity(Losses const& losses, Counts const& counts) {
  auto const batches = static_cast<std::size_t>(std::size(losses)),
             counted = static_cast<std::size_t>(std::size(counts));
  if (batches != counted)
    throw error(exit_code::data, "perplexity of " + std::to_string(batches) + " losses and " + std::to_string(counted) +
                                     " counts: give one of each for every batch");
  double loss = 0;
  std::int64_t tokens = 0;
  std::size_t batch = 0;
  auto count = std::begin(counts);
  for (auto const& sum : losses) {
    auto const in_batch = static_cast<std::int64_t>(*count++);
    auto const of_batch = static_cast<double>(sum);
    if (in_batch < 0 || std::isnan(of_batch) || of_batch == -HUGE_VAL)
      throw error(exit_code::data, "perplexity: batch " + std::to_string(batch) + " of " + std::to_string(batches) +
                                       " (counted from 0) has a loss of " + std::to_string(of_batch) + " over " +
                                       std::to_string(in_batch) + " tokens");
    loss += of_batch;
    tokens += in_batch;
    ++batch;
  }
  return perplexity(loss, tokens);
}

}  // namespace redco::metrics
