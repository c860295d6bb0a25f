#pragma once

#include <redco/nn/network_base.hpp>
#include <redco/nn/parameter_store.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/shard/shares.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace redco::run::detail {

/// The elements of a shared range that a rank keeps, in buffers that have only what it keeps.
struct packed_share {
  std::int64_t begin = 0, elements = 0;
};

/// Returns this rank's share of `range`, one of store.shares(), without padding.
inline packed_share packed_share_of(nn::parameter_store const& store, shard::shared_range const& range) {
  packed_share found;
  auto const begins_before = [](nn::parameter_store::kept_range const& one, std::int64_t at) { return one.begin < at; };
  auto one = std::lower_bound(store.kept().begin(), store.kept().end(), range.begin, begins_before);
  for (; one != store.kept().end() && one->end <= range.end; ++one) {
    if (found.elements == 0) found.begin = one->packed;
    found.elements += one->end - one->begin;
  }
  return found;
}

/// The order in which all ranks sum the buckets of the flat gradient buffer during backward, and
/// the buckets of each parameter. Parameters used last in forward come first, because backward
/// completes them first.
struct bucket_order {
  std::vector<std::size_t> sums;  ///< Indices of the buckets in the order of their sums
  std::vector<int> parameters;    ///< Number of parameters in each bucket, in the order of the sums
  /// Entries by parameter: positions in `sums` of its buckets, ascending
  std::vector<std::vector<std::size_t>> of_parameter;
};

/// Returns the order of buckets that begin at the elements `begins` of the flat buffers. Each
/// bucket ends where the next begins.
inline bucket_order order_of_buckets(nn::network_base const& net, std::vector<std::int64_t> const& begins) {
  auto const bucket_of = [&](std::int64_t element) {
    return static_cast<std::size_t>(std::upper_bound(begins.begin(), begins.end(), element) - begins.begin()) - 1;
  };
  std::vector<std::vector<std::size_t>> of_parameter(net.parameters().size());
  std::vector<std::int64_t> first(begins.size(), -1);  // first parameter of each bucket
  std::vector<int> parameters(begins.size());
  for (std::size_t i = 0; i < of_parameter.size(); ++i) {
    at::Tensor const& leaf = net.parameters()[i];
    if (!leaf.requires_grad() || leaf.numel() == 0) continue;
    std::int64_t const begin = net.store().first_element(leaf);
    for (std::size_t b = bucket_of(begin); b <= bucket_of(begin + leaf.numel() - 1); ++b) {
      if (parameters[b]++ == 0) first[b] = static_cast<std::int64_t>(i);
      of_parameter[i].push_back(b);
    }
  }
  bucket_order all{std::vector<std::size_t>(begins.size()), {}, std::move(of_parameter)};
  // The last bucket of a parameter comes first, because the next parameters may begin in it.
  std::iota(all.sums.rbegin(), all.sums.rend(), std::size_t{0});
  std::stable_sort(all.sums.begin(), all.sums.end(), [&](std::size_t a, std::size_t b) { return first[a] > first[b]; });
  std::vector<std::size_t> position(begins.size());
  for (std::size_t const b : all.sums) {
    position[b] = all.parameters.size();
    all.parameters.push_back(parameters[b]);
  }
  for (std::vector<std::size_t>& some : all.of_parameter) {
    for (std::size_t& b : some) b = position[b];
    std::sort(some.begin(), some.end());
  }
  return all;
}

}  // namespace redco::run::detail
