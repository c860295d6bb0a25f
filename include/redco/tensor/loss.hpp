#pragma once

#include <redco/tensor/torch.hpp>

#include <redco/pipeline/enable_loss.hpp>
#include <redco/pipeline/enable_per_example.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace redco {

/// A loss that carries its weight: a sum over what it counts (tokens, pixels) and how many there were. The step divides
/// the sum of all micro-batches and ranks by the count of all, so unequal batches average as one rank would.
struct mean {
  at::Tensor sum;    ///< scalar, differentiable
  double count = 0;  ///< not negative
};

/// Several losses by name, each averaged by its own count, added with its factor.
struct terms {
  struct term {
    std::string name;
    mean loss;
    double factor = 1;
  };
  std::vector<term> all;
};

template <>
inline constexpr bool enable_loss<mean> = true;
template <>
inline constexpr bool enable_loss<terms> = true;
template <>
inline constexpr bool enable_loss<at::Tensor> = true;
template <>
inline constexpr bool enable_per_example<at::Tensor> = true;

/// Every kind of loss as named terms; a scalar weighs as many as the micro-batch has examples.
inline terms as_terms(mean const& loss, std::int64_t) { return {{{"loss", loss, 1}}}; }
inline terms as_terms(terms const& loss, std::int64_t) { return loss; }
inline terms as_terms(at::Tensor const& scalar, std::int64_t examples) {
  auto const weight = static_cast<double>(examples);
  return {{{"loss", {scalar * weight, weight}, 1}}};
}

}  // namespace redco
