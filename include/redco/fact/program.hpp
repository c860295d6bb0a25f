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

/// A program of a model: the parameters, saved tensors, operations and messages that its layers
/// declare for one batch size and sequence length. Events are in the order of forward. Equal
/// repeated blocks are listed once, between a `repeat` and a `repeat_end` event.
struct program {
  std::vector<event> events;
  /// Paths of the layers that have events, in the order of their first event. A layer with events
  /// before and after its inner layers may appear twice.
  std::vector<path> layers;
  std::vector<parameter_fact> parameters;
  std::vector<message_fact> messages;
  mistake_fact mistake;  ///< First mistake in the sizes of the model, if there is one

  /// Returns the path of the layer that declared the event `e`. Requires that `e.layer` is not -1.
  constexpr std::string_view layer_of(event const& e) const { return layers[static_cast<std::size_t>(e.layer)].view(); }
};

}  // namespace redco::fact
