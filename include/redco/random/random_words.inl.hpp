#pragma once

#include <redco/random/random_words.hpp>

#include <redco/random/detail/words.hpp>
#include <redco/config.hpp>

namespace redco::random {

REDCO_INLINE void random_words(std::uint32_t* out, std::int64_t first, std::int64_t n, std::uint32_t c1,
                               std::uint32_t c2, std::uint32_t c3, stream s) {
  static detail::block_writer const write = detail::best_block_writer();
  detail::words_with(write, out, first, n, {c1, c2, c3}, s);
}

}  // namespace redco::random
