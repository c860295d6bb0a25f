#pragma once

#include <redco/fact/event.hpp>
#include <redco/fact/message_fact.hpp>
#include <redco/fact/mistake_fact.hpp>
#include <redco/fact/parameter_fact.hpp>
#include <redco/fact/path.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

namespace redco::fact {

/// What the layers of a model have, save, compute and send under a workload: events in the order of forward, those of equal
/// blocks once between `repeat` and `repeat_end`.
struct program {
  std::vector<event> events;
  std::vector<path> layers;  ///< that state events, in their order; a layer that is left and entered again stands twice
  std::vector<parameter_fact> parameters;
  std::vector<message_fact> messages;
  mistake_fact mistake;  ///< the first one

  /// Whose event it is. Requires one that names its layer.
  constexpr std::string_view layer_of(event const& e) const { return layers[static_cast<std::size_t>(e.layer)].view(); }
};

}  // namespace redco::fact
