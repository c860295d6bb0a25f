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

}  // namespace redco::generation::detail
