#pragma once

#include <redco/tensor/torch.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco::kernel::composed {

/// What dropout multiplies by, f64 [rows, n] in host memory: 0 where the random word is below `dropped`, else `kept`. Words
/// come from words_of(row, out), which writes the n of a row.
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
