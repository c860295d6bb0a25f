#pragma once

#include <redco/comm/collectives.hpp>

#include <redco/comm/detail/collective_functions.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace redco::comm::detail {

REDCO_INLINE at::Tensor gather_parts(at::Tensor const& x, group& ranks, std::int64_t dim) {
  return take_step<gather_step>(x, ranks, dim);
}

REDCO_INLINE at::Tensor scatter_part(at::Tensor const& x, group& ranks, std::int64_t dim) {
  return take_step<slice_step>(x, ranks, dim);
}

REDCO_INLINE at::Tensor gather_entered(at::Tensor const& x, group& ranks, std::int64_t dim) {
  return take_step<gather_entered_step>(x, ranks, dim);
}

/// Completes a reduce-scatter: returns `sum` plus this rank's part of each addend. `sum` is this
/// rank's part, along the tensor dimension `dim`, of the sum over the ranks. An addend that
/// broadcasts along `dim` is added whole.
inline at::Tensor with_parts(at::Tensor sum, std::vector<at::Tensor> const& addends, group& ranks, std::int64_t dim) {
  std::int64_t const from_end = dim < 0 ? -dim : sum.dim() - dim;
  for (at::Tensor const& addend : addends) {
    bool const whole = addend.dim() >= from_end && addend.size(addend.dim() - from_end) != 1;
    sum = sum + (whole ? take_step<slice_step>(addend, ranks, -from_end) : take_step<identity_step>(addend, ranks, 0));
  }
  return sum;
}

REDCO_INLINE at::Tensor reduce_to_part(tensor<shape::partial> const& x, group& ranks, std::int64_t dim) {
  return with_parts(take_step<reduce_scatter_step>(x.local(), ranks, dim), x.addends(), ranks, dim);
}

}  // namespace redco::comm::detail

namespace redco::comm {

REDCO_INLINE tensor<shape::entered> enter(tensor<shape::replicated> const& x, group& ranks) {
  return tensor<shape::entered>(detail::take_step<detail::identity_step>(x.local(), ranks, 0));
}

REDCO_INLINE at::Tensor enter_shared(at::Tensor const& x, group& ranks, int sharers, std::int64_t first) {
  if (sharers == 1) return x;
  return detail::take_shared<false>(x, {&ranks, sharers, first});
}

REDCO_INLINE at::Tensor exchange(at::Tensor const& x, group& ranks) {
  return detail::take_step<detail::exchange_step>(x, ranks, 0);
}

REDCO_INLINE tensor<shape::replicated> reduce(tensor<shape::partial> const& x, group& ranks) {
  at::Tensor sum = detail::take_step<detail::all_reduce_step>(x.local(), ranks, 0);
  if (ranks.size() > 1) return with_addends(std::move(sum), x.addends());
  // `sum` is the caller's tensor: do not add in place.
  for (at::Tensor const& addend : x.addends()) sum = sum + addend;
  return sum;
}

}  // namespace redco::comm

namespace redco::comm::detail {

/// Returns `x` with zero tokens appended until the number of tokens is a multiple of the number of
/// ranks.
inline at::Tensor padded_tokens(at::Tensor const& x, group const& ranks) {
  std::int64_t const size = ranks.size(), missing = (size - x.size(-2) % size) % size;
  return missing == 0 ? x : at::constant_pad_nd(x, {0, 0, 0, missing});
}

inline at::Tensor without_padding(at::Tensor const& joined, std::int64_t tokens) {
  return tokens == joined.size(-2) ? joined : joined.narrow(-2, 0, tokens).contiguous();
}

}  // namespace redco::comm::detail

namespace redco::comm {

REDCO_INLINE tensor<shape::token_split> scatter_tokens(tensor<shape::replicated> const& x, group& ranks) {
  return tensor<shape::token_split>(detail::scatter_part(detail::padded_tokens(x.local(), ranks), ranks, -2),
                                    x.local().size(-2));
}

REDCO_INLINE tensor<shape::entered> enter(tensor<shape::token_split> const& x, group& ranks) {
  return tensor<shape::entered>(detail::without_padding(detail::gather_entered(x.local(), ranks, -2), x.tokens()));
}

REDCO_INLINE tensor<shape::replicated> gather(tensor<shape::token_split> const& x, group& ranks) {
  return detail::without_padding(detail::gather_parts(x.local(), ranks, -2), x.tokens());
}

REDCO_INLINE tensor<shape::token_split> reduce_tokens(tensor<shape::partial> const& x, group& ranks) {
  tensor<shape::partial> const padded(detail::padded_tokens(x.local(), ranks), x.addends());
  return tensor<shape::token_split>(detail::reduce_to_part(padded, ranks, -2), x.local().size(-2));
}

REDCO_INLINE tensor<shape::token_split> with_addends(tensor<shape::token_split> sums,
                                                     std::vector<at::Tensor> const& addends, group& ranks) {
  return sums.like(detail::with_parts(sums.local(), addends, ranks, -2));
}

REDCO_INLINE at::Tensor broadcast_unknown(at::Tensor const& x, group& ranks, int root, at::Device device) {
  if (ranks.size() == 1) return x;
  // dtype, number of dimensions, sizes
  constexpr std::int64_t most_dimensions = 14;
  at::Tensor const form = at::zeros({2 + most_dimensions}, at::kLong);
  auto* const numbers = form.mutable_data_ptr<std::int64_t>();
  if (ranks.rank() == root) {
    numbers[0] = static_cast<std::int64_t>(x.scalar_type());
    numbers[1] = x.dim();
    std::copy(x.sizes().begin(), x.sizes().end(), numbers + 2);
  }
  ranks.broadcast(form, root);
  at::IntArrayRef const sizes(numbers + 2, static_cast<std::size_t>(numbers[1]));
  auto const options = at::TensorOptions(static_cast<at::ScalarType>(numbers[0])).device(device);
  at::Tensor const y = ranks.rank() == root ? x.detach().to(device).contiguous() : at::empty(sizes, options);
  ranks.broadcast(y, root);
  return y;
}

}  // namespace redco::comm
