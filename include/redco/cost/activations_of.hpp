#pragma once

#include <redco/cost/activation_bytes.hpp>
#include <redco/cost/setup.hpp>

#include <redco/layer/path.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace redco {

/// What the forward of one layer keeps for backward on one rank, over all blocks that repeat it.
struct layer_activations {
  path layer;
  std::int64_t bytes = 0;
};

/// The activations of a model's facts by layer, in the order of forward. Their sum is `memory::activations`.
template <class Facts>
std::vector<layer_activations> activations_of(Facts const& facts, setup const& s) {
  std::vector<layer_activations> all;
  for (saved_fact const& fact : facts.saved) {
    std::int64_t const bytes = activation_bytes(fact, s);
    if (bytes == 0) continue;
    auto const same = [&](layer_activations const& one) { return one.layer == fact.layer; };
    auto const known = std::find_if(all.begin(), all.end(), same);
    if (known == all.end()) {
      all.push_back({fact.layer, bytes});
    } else {
      known->bytes += bytes;
    }
  }
  return all;
}

}  // namespace redco
