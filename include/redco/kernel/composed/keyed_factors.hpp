#pragma once

#include <redco/tensor/torch.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco::kernel::composed {

/// Returns dropout factors, f64 [rows, n] in host memory. A factor is 0 if its random 32-bit word
/// is below `dropped`, else `kept`. words_of(row, out) must write the n random words of a row to
/// `out`.
template <class Words>
at::Tensor keyed_factors(std::int64_t rows, std::int64_t n, std::uint32_t dropped, double kept, Words const& words_of) {
  at::Tensor const factors = at::empty({rows, n}, at::kDouble);
  double* to = factors.mutable_data_ptr<double>();
  std::vector<std::uint32_t> words(static_cast<std::size_t>(n));
  for (std::int64_t row = 0; row < rows; ++row) {
    words_of(row, words.data());
    for (std::uint32_t const word : words) *to++ = word < dropped ? 0 : kept;
  }
  return factors;
}

}  // namespace redco::kernel::composed
