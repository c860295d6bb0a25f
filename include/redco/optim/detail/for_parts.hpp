#pragma once

#include <redco/tensor/torch.hpp>

#include <cstdint>

namespace redco::detail {

/// Calls f(begin, end) on parts of the flat buffer `flat`, cut no finer than `smallest_part` elements, from as many
/// threads as ATen's operators use; f must give the same whatever the parts. at::parallel_for is serial in a program
/// built without -fopenmp; the loop inside libtorch is not.
template <class F>
void for_parts(at::Tensor const& flat, F const& f, std::int64_t smallest_part = 1 << 15) {
  if (flat.numel() <= smallest_part) return f(std::int64_t{0}, flat.numel());
  auto iterator = at::TensorIteratorConfig().check_all_same_dtype(false).resize_outputs(false).add_output(flat).build();
  auto const* const first = static_cast<char const*>(flat.const_data_ptr());
  std::int64_t const bytes = flat.element_size();
  iterator.for_each(
      [&](char** data, std::int64_t const*, std::int64_t inner, std::int64_t outer) {
        std::int64_t const begin = (data[0] - first) / bytes;
        f(begin, begin + inner * outer);
      },
      smallest_part);
}

}  // namespace redco::detail
