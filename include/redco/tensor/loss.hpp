#pragma once

#include <redco/tensor/torch.hpp>

#include <redco/pipeline/results.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace redco {

/// A loss with its weight: the sum over labels (such as tokens, pixels or examples), and their
/// number. A training step divides the sum over all micro-batches and ranks by the sum of all
/// counts. Batches of unequal size are therefore averaged as on one rank.
struct mean {
  at::Tensor sum;    ///< sum of the loss over the labels; scalar, differentiable
  double count = 0;  ///< number of tokens or pixels in `sum`, not negative
};

/// A sum of several named losses. Each loss is averaged by its own count and multiplied by its
/// factor.
struct terms {
  struct term {
    std::string name;
    mean loss;
    double factor = 1;
  };
  std::vector<term> all;
};

template <>
inline constexpr bool pipelines::enable_loss<mean> = true;
template <>
inline constexpr bool pipelines::enable_loss<terms> = true;
template <>
inline constexpr bool pipelines::enable_loss<at::Tensor> = true;
template <>
inline constexpr bool pipelines::enable_per_example<at::Tensor> = true;

}  // namespace redco

namespace redco::tensors {

/// Converts a loss to named terms. A `mean` becomes one term named "loss"; `terms` are returned
/// unchanged. A scalar tensor is the mean over the micro-batch's examples; the second argument is
/// their number.
inline terms as_terms(mean const& loss, std::int64_t) { return {{{"loss", loss, 1}}}; }
inline terms as_terms(terms const& loss, std::int64_t) { return loss; }
inline terms as_terms(at::Tensor const& scalar, std::int64_t examples) {
  auto const weight = static_cast<double>(examples);
  return {{{"loss", {scalar * weight, weight}, 1}}};
}

}  // namespace redco::tensors
