#pragma once

#include <redco/text/batches.hpp>
#include <redco/nn/cross_entropy.hpp>
#include <redco/pipeline/functions.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace short_sequences {

/// Returns a job in which example i has nine tokens. The last i % 4 of them do not count.
inline auto language() {
  return redco::collate([](std::span<std::int64_t const> ids) {
           std::vector<at::Tensor> inputs, labels;
           for (std::int64_t const id : ids) {
             at::Tensor const t = at::arange(10, at::kLong), tokens = (t * t * 3 + id * 7 + t * id).remainder(11);
             inputs.push_back(tokens.slice(0, 0, 9));
             labels.push_back(tokens.slice(0, 1).clone());
             labels.back().slice(0, 9 - id % 4).fill_(-100);
           }
           return redco::token_batch{at::stack(inputs), at::stack(labels)};
         }) |
         redco::loss([](auto const& net, redco::token_batch const& b) {
           return redco::cross_entropy(net(b.input_ids), b.labels);
         });
}

}  // namespace short_sequences
