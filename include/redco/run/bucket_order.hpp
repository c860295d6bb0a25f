#pragma once

#include <redco/nn/network_base.hpp>
#include <redco/nn/parameter_store.hpp>
#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace redco::run::detail {

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
