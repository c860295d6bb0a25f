#pragma once

#include <redco/cost/activation_bytes.hpp>
#include <redco/cost/setup.hpp>

#include <redco/fact/path.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco {

/// What the forward of one layer keeps for backward on one rank, over all blocks that repeat it.
struct layer_activations {
  path layer;
  std::int64_t bytes = 0;
  bool counted = true;  ///< false: the layer does not say what it keeps
};

/// The activations of a model's facts by layer, in the order of forward. Their sum is `memory::activations`.
template <class Facts>
std::vector<layer_activations> activations_of(Facts const& facts, setup const& s) {
  std::vector<layer_activations> all;
  for (saved_fact const& fact : facts.saved) {
    std::int64_t const bytes = activation_bytes(fact, s);
    bool const counted = fact.role != saved_role::uncounted;
    if (bytes == 0 && counted) continue;
    std::size_t at = 0;
    while (at < all.size() && !(all[at].layer == fact.layer)) ++at;
    if (at == all.size()) all.push_back({fact.layer});
    all[at].bytes += bytes;
    all[at].counted = all[at].counted && counted;
  }
  return all;
}

}  // namespace redco
