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

/// A program: the parameters, saved tensors, operations and messages of a model's layers under a
/// workload. Events are in the order of forward. Equal blocks appear once, between `repeat` and
/// `repeat_end`.
struct program {
  std::vector<event> events;
  /// Layers that state events, in order. A layer that is left and entered again appears twice.
  std::vector<path> layers;
  std::vector<parameter_fact> parameters;
  std::vector<message_fact> messages;
  mistake_fact mistake;  ///< First mistake in the model's sizes

  /// Returns the path of the event's layer. Requires an event with a layer index.
  constexpr std::string_view layer_of(event const& e) const { return layers[static_cast<std::size_t>(e.layer)].view(); }
};

}  // namespace redco::fact
