#pragma once

#include <redco/text/token_batch.hpp>

#include <redco/diag/error.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace redco {

/// Examples for language modelling: windows of `context` + 1 ids of each text, each beginning at the id where the one before
/// ended, so that every id but the first of a text is predicted exactly once. The last window of a text is what is left, at
/// least two ids. Errors: exit code 65 when there is no window at all. Requires context >= 1.
std::vector<std::vector<std::int64_t>> token_windows(std::span<std::vector<std::int64_t> const> texts,
                                                     std::int64_t context);

/// Windows side by side: each id the label of the one before it, right-padded with `padding` and label -100.
token_batch token_batch_of(std::span<std::vector<std::int64_t> const> windows, std::int64_t padding);

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/text/token_windows.inl.hpp>
#endif
