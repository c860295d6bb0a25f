#pragma once

#include <redco/text/token_batch.hpp>

#include <redco/diag/error.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace redco {

/// Cuts each text into windows of at most `context + 1` token ids, as examples for language models.
/// A window begins with the last id of the window before, so that every id except a text's first is
/// predicted exactly once. A window has at least two ids. Throws `error` with exit code 65 if there
/// is no window. Requires context >= 1.
std::vector<std::vector<std::int64_t>> token_windows(std::span<std::vector<std::int64_t> const> texts,
                                                     std::int64_t context);

/// Converts windows of token ids to a training batch; the label of an id is the next id of its
/// window. Shorter windows are right-padded with id `padding` and label -100.
token_batch token_batch_of(std::span<std::vector<std::int64_t> const> windows, std::int64_t padding);

}  // namespace redco

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/text/token_windows.inl.hpp>
#endif
