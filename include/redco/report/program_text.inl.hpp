#pragma once

#include <redco/report/program_text.hpp>

#include <redco/report/detail/numbers.hpp>

#include <redco/fact/event.hpp>
#include <redco/fact/parameter_fact.hpp>
#include <redco/fact/program.hpp>
#include <redco/shape/axis.hpp>
#include <redco/shape/collective.hpp>
#include <redco/meta/enum_texts.hpp>
#include <redco/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace redco::report::detail {

/// Words that tell in a `make` event how its activation is made.
inline constexpr auto making_texts = meta::enum_texts<fact::making>({
    {fact::making::function, ""},
    {fact::making::attention, ", attended"},
    {fact::making::add, ", added"},
    {fact::making::collective, ", by the collective"},
    {fact::making::logits, ""},
});

/// Words that tell the element type of an event's tensor.
inline constexpr auto width_texts = meta::enum_texts<fact::width_kind>({
    {fact::width_kind::compute, ""},
    {fact::width_kind::accumulate, " accumulated"},
    {fact::width_kind::index, " i64"},
});

inline std::string activation_text(int id) { return "#" + std::to_string(id); }

/// Returns the shape of a tensor and the dimension that a mesh may cut: "[2, 8, 24] | 3 of dim 2"
/// (3 indivisible units). Appends the element type if it differs from the compute type of the run.
inline std::string tensor_text(fact::flow const& f, fact::width_kind width) {
  std::string text = extents_text(f.shape);
  if (f.split_dim >= 0) text += " | " + std::to_string(f.units) + " of dim " + std::to_string(f.split_dim);
  return text + std::string(width_texts.text_of(width));
}

inline std::string message_text(fact::message_fact const& m) {
  return std::string(m.backward ? "backward " : "forward ") + std::string(name_of(m.collective)) + " " +
         extents_text(m.shape) + " over " + shape::axes_text(m.over, " x ") +
         (m.copies > 1 ? ", " + std::to_string(m.copies) + " in all" : "");
}

/// Returns the description of an event (a statement of a layer in a program) that follows the
/// event's name on its line.
inline std::string event_text(fact::program const& p, fact::event const& e) {
  using fact::event_kind;
  auto const at = static_cast<std::size_t>(e.count);
  switch (e.kind) {
    case fact::event_kind::parameter:
      return std::string(p.parameters[at].name.view()) + " " + extents_text(p.parameters[at].shape);
    case fact::event_kind::message: return message_text(p.messages[at]);
    case fact::event_kind::multiply: return std::to_string(e.count) + " operations";
    case fact::event_kind::read:
    case fact::event_kind::enter: return activation_text(e.tensor.id);
    case fact::event_kind::make: {
      if (e.how == fact::making::logits) return "logits of " + activation_text(e.from);
      return activation_text(e.tensor.id) + " " + tensor_text(e.tensor, e.width) + " of " + activation_text(e.from) +
             std::string(making_texts.text_of(e.how));
    }
    case fact::event_kind::repeat:
      return std::to_string(e.blocks.count()) + " blocks of " + activation_text(e.tensor.id) + ", the first " +
             activation_text(e.from);
    case fact::event_kind::repeat_end: return activation_text(e.tensor.id);
    case fact::event_kind::moment:
    case fact::event_kind::uncounted: return "";
    case fact::event_kind::save:
      if (e.tensor.id >= 0) return std::string(e.slot) + " " + activation_text(e.tensor.id);
      break;
    default: break;
  }
  return std::string(e.slot) + " " + tensor_text(e.tensor, e.width) + (e.adjacent ? ", in its storage" : "");
}

}  // namespace redco::report::detail

namespace redco::report {

REDCO_INLINE std::string program_text(fact::program const& p) {
  using fact::event_kind;
  std::string text, parameters;  // lines of parameters, held back until the name of their layer
  std::size_t depth = 0;
  int layer = -1;
  for (fact::event const& e : p.events) {
    if (e.kind == fact::event_kind::branch_end || e.kind == fact::event_kind::repeat_end) --depth;
    std::string const indent(2 * depth, ' '), said = detail::event_text(p, e);
    std::string line = indent + "  " + std::string(name_of(e.kind));
    if (!said.empty()) line = detail::padded(line, indent.size() + 12) + said;
    if (e.min_shards_exclusive == 1) line += ", on several shards";
    if (e.min_shards_exclusive > 1) line += ", on more than " + std::to_string(e.min_shards_exclusive) + " shards";
    line += "\n";
    if (e.kind == fact::event_kind::parameter) {
      parameters += line;
      continue;
    }
    if (std::exchange(layer, e.layer) != e.layer)
      text += indent + (p.layer_of(e).empty() ? "(model)" : std::string(p.layer_of(e))) + "\n";
    text += std::exchange(parameters, "") + line;
    if (e.kind == fact::event_kind::branch || e.kind == fact::event_kind::repeat) ++depth;
  }
  return text + parameters;
}

}  // namespace redco::report
