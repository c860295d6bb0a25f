#pragma once

#include <redco/nn/keyed_dropout.hpp>

#include <redco/kernel/dropout.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <vector>

namespace redco::nn::detail {

REDCO_INLINE at::Tensor dropped(at::Tensor const& x, double p, random::stream numbers, pass const& in,
                                std::int64_t feature0, std::int64_t begin) {
  auto const run = [&](at::Tensor const& tokens, std::int64_t position0) {
    return kernel::dropout(tokens, p, numbers, in.first_row(x.size(0)), feature0, position0);
  };
  if (in.cp == nullptr) return run(x, begin);
  shape::sequence_part const& part = in.tokens;
  std::int64_t const end = begin + x.size(1), cut = std::clamp(part.of_run(), begin, end);
  auto const [low, high] = part.runs();
  std::vector<at::Tensor> runs;
  if (begin < cut) runs.push_back(run(x.narrow(1, 0, cut - begin), low.first + begin));
  if (cut < end) runs.push_back(run(x.narrow(1, cut - begin, end - cut), high.first + cut - part.of_run()));
  return at::cat(runs, 1);
}

}  // namespace redco::nn::detail
