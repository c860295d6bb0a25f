#pragma once

#include <redco/tensor/torch.hpp>
#include <redco/tokenizer/tokenizer.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace redco::text {

/// Converts each row of ids [B, T] to text and returns, for each row, the text that the columns
/// from `first` on add. Special tokens, such as padding and the end token, are left out.
std::vector<std::string> decoded_rows(tokenizer::any_tokenizer const& tokenizer, at::Tensor const& ids,
                                      std::int64_t first = 0);

}  // namespace redco::text

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/text/decoded_rows.inl.hpp>
#endif
