#pragma once

#include <redco/generate/generate.hpp>

#include <redco/random/stream.hpp>
#include <redco/random/uniform.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <limits>
#include <tuple>
#include <vector>

namespace redco {

namespace detail {

REDCO_INLINE at::Tensor next_tokens(at::Tensor const& logits, generate_options const& options, pass const& in,
                                    std::int64_t position) {
  if (options.temperature <= 0) return logits.argmax(-1);
  constexpr std::uint32_t site = 0x67656e;  // "gen": far from the sites of a model, which count from 0
  at::Tensor scores = logits.to(at::kDouble) / options.temperature;
  if (options.top_k > 0 && options.top_k < scores.size(-1)) {
    at::Tensor const least = std::get<0>(scores.topk(options.top_k, -1)).slice(-1, options.top_k - 1);
    scores = scores.masked_fill(scores < least, -std::numeric_limits<double>::infinity());
  }
  at::Tensor const cumulative = scores.softmax(-1).cumsum(-1).contiguous();
  stream const key = make_stream(in.seed, site, in.step, static_cast<std::uint32_t>(position));
  at::Tensor const chosen = at::empty({logits.size(0)}, at::kLong);
  for (std::int64_t row = 0; row < logits.size(0); ++row) {
    double const* const begin = cumulative.const_data_ptr<double>() + row * cumulative.size(1);
    double const* const end = begin + cumulative.size(1);
    double const u = uniform_at(key, static_cast<std::uint64_t>(in.first_row(logits.size(0)) + row)) * end[-1];
    chosen.data_ptr<std::int64_t>()[row] = std::min(std::upper_bound(begin, end, u), end - 1) - begin;
  }
  return chosen;
}

}  // namespace detail
}  // namespace redco
