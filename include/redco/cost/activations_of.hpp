#pragma once

#include <redco/cost/simulation.hpp>

#include <redco/fact/event.hpp>
#include <redco/fact/path.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco::cost {

/// The bytes that forward saves for backward in one layer on one rank, summed over all repeated
/// blocks that contain the layer.
struct layer_activations {
  fact::path layer;
  std::int64_t bytes = 0;
  /// False if the layer does not declare what it saves (a user's opaque callable)
  bool counted = true;
};

/// Returns the bytes of saved activations for each layer, in the order of forward. Their sum is
/// `memory::activations`. Used by the report.
inline std::vector<layer_activations> activations_of(simulation const& s) {
  std::vector<layer_activations> all;
  for (std::size_t i = 0; i < s.tensors().size(); ++i) {
    fact::event const& e = s.program().events[i];
    std::int64_t const bytes = s.tensors()[i].saved_bytes();
    bool const counted = e.what != fact::event_kind::uncounted;
    if (bytes == 0 && counted) continue;
    fact::path const& layer = s.program().layers[static_cast<std::size_t>(e.layer)];
    std::size_t at = 0;
    while (at < all.size() && !(all[at].layer == layer)) ++at;
    if (at == all.size()) all.push_back({layer});
    all[at].bytes += bytes;
    all[at].counted = all[at].counted && counted;
  }
  return all;
}

}  // namespace redco::cost
