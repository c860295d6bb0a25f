#pragma once

#include <redco/nn/logits.hpp>
#include <redco/nn/parameter_store.hpp>
#include <redco/tensor/scalar_type.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/model/model.hpp>

#include <cstddef>
#include <cstdint>

namespace redco::nn::detail {

/// Returns an uninitialised input of a model with `rows` examples, each with one token.
template <model M>
at::Tensor input_with_rows(std::int64_t rows, M const& m, parameter_store const& store) {
  extents const shape = models::input_of(m, {rows, 1});
  auto const type = models::states_input<M> ? tensors::scalar_type_of(store.compute()) : at::kLong;
  return at::empty({shape.size.data(), static_cast<std::size_t>(shape.rank)},
                   at::TensorOptions(store.device()).dtype(type));
}

/// Returns the sum of an output without rows. If the replicas sum gradients during backward, the
/// sum also reads the head of a language model, as a loss does. So all ranks sum the gradients of
/// the head before those of the layers below.
inline at::Tensor sum_of(at::Tensor const& y, parameter_store const&) { return y.sum(); }
inline at::Tensor sum_of(logits const& y, parameter_store const& store) {
  at::Tensor sum = y.hidden.local().sum();
  if (!store.has_cut_gradients() || !at::GradMode::is_enabled()) return sum;
  for (at::Tensor const& x : {y.weight, y.bias})
    if (x.defined()) sum = sum + x.sum() * 0;
  return sum;
}

}  // namespace redco::nn::detail
