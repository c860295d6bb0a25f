#pragma once

#include <redco/generate/generate.hpp>

#include <redco/generate/detail/scores.hpp>
#include <redco/tensor/device.hpp>
#include <redco/tensor/parallel.hpp>
#include <redco/random/stream.hpp>
#include <redco/random/uniform.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <span>

namespace redco::generation::detail {

REDCO_INLINE at::Tensor drawn_tokens(at::Tensor const& whole, at::Tensor const& seen, generate_options const& options,
                                     pass const& in, std::int64_t step) {
  // "gen" in ASCII. A model's sites count from 0, so the values do not collide.
  constexpr std::uint32_t site = 0x67656e;
  std::int64_t const rows = whole.size(0), vocabulary = whole.size(1);
  at::Tensor const scores = tensors::to_cpu(whole).to(at::kDouble, false, true).contiguous();
  at::Tensor const chosen = at::empty({rows}, at::kLong);
  random::stream const key = random::make_stream(in.seed, site, in.step, static_cast<std::uint32_t>(step));
  auto* const all = scores.mutable_data_ptr<double>();
  tensors::parallel(rows, 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto row = begin; row < end; ++row) {
      std::span const one(all + row * vocabulary, static_cast<std::size_t>(vocabulary));
      // Check before the rules, which could hide a value that is not finite.
      check_finite(largest_or_nan(one), in.first_row(rows) + row, step, seen.size(1));
      apply_rules(one,
                  {seen.const_data_ptr<std::int64_t>() + row * seen.stride(0), static_cast<std::size_t>(seen.size(1))},
                  options, step);
      chosen.mutable_data_ptr<std::int64_t>()[row] =
          options.temperature > 0
              ? draw(one, options, random::uniform_at(key, static_cast<std::uint64_t>(in.first_row(rows) + row)))
              : std::max_element(one.begin(), one.end()) - one.begin();
    }
  });
  return chosen;
}

REDCO_INLINE at::Tensor next_tokens(logits const& from, at::Tensor const& seen, generate_options const& options,
                                    pass const& in, std::int64_t step) {
  if (options.temperature > 0 || has_rules(options, step))
    return drawn_tokens(from.tensor().squeeze(1), seen, options, in, step);
  kernel::largest_logits const best = from.top(1);
  at::Tensor const largest = tensors::to_cpu(best.logits);
  for (std::int64_t row = 0; row < largest.size(0); ++row)
    check_finite(largest.const_data_ptr<double>()[row], in.first_row(largest.size(0)) + row, step, seen.size(1));
  return tensors::to_cpu(best.entries.squeeze(1));
}

REDCO_INLINE bool goes_on(at::Tensor const& ids, generate_options const& options, pass const& in) {
  if (!options.on_tokens) return true;
  at::Tensor const answer = at::ones({1}, at::kByte);
  if (in.tp->rank() == 0) {
    std::span const all(ids.const_data_ptr<std::int64_t>(), static_cast<std::size_t>(ids.size(0)));
    answer.fill_(options.on_tokens(all) ? 1 : 0);
  }
  in.tp->broadcast(answer, 0);
  return answer.item<std::uint8_t>() != 0;
}

}  // namespace redco::generation::detail
