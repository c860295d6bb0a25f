#pragma once

#include <redco/shard/facts.hpp>

#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <cstdint>
#include <string>

namespace redco::shard::detail {

/// Returns "layer 'h.*.attn'" for the path of a layer, or the text `whole` for an empty path.
inline std::string layer_text(fact::path const& layer, char const* whole) {
  return layer.size > 0 ? "layer '" + std::string(layer.view()) + "'" : std::string(whole);
}

inline std::string dimensions_text(std::int64_t rank) {
  constexpr char const* names[] = {"", "", " [batch, ids]", " [batch, tokens, features]",
                                   " [batch, channels, height, width]"};
  return std::to_string(rank) + " dimensions" + (rank < 5 ? names[rank] : "");
}

REDCO_INLINE void refuse(fact::mistake_fact const& m) {
  if (!m) return;
  bool const of_input = m.makers[1] == 0, added = m.makers[0] >= 0;
  std::string const reader = layer_text(m.reader, m.makers[0] == 0 ? "the model's input" : "the model"),
                    producer = layer_text(m.producer, of_input ? "the model's input" : "the model");
  std::string const wanted = std::to_string(m.wanted), found = std::to_string(m.found), of(m.of.view());
  std::string const input_cure =
      "state the input: redco::model_of<net, redco::input<extents of one example>>, or a member input(workload)";
  std::string text;
  if (m.kind == fact::mistake::size || m.kind == fact::mistake::experts) {
    text = reader + " has " + found + " " + of + "; give it at least " + wanted;
  } else if (m.kind == fact::mistake::divisor) {
    text = reader + " has " + found + " " + of + ", no multiple of its " + wanted + " " + std::string(m.by.view()) +
           "; make it a multiple";
  } else if (m.kind == fact::mistake::depth) {
    text = reader + " has " + found + " " + of + ", more than " + wanted +
           "; give the layers around it shorter names, or nest fewer repeats";
  } else if (m.kind == fact::mistake::blocks) {
    text = reader + " has " + found + " blocks, and a rewrite begins or ends a range of them at " + wanted +
           "; choose a range within [0, " + found + ")";
  } else if (added) {
    std::string const dimension = m.kind == fact::mistake::rank ? "dimensions" : of;
    text = producer + " gives " + found + " " + dimension + ", to be added to or put in place of the " + wanted +
           " of " + reader + "; make the two equal";
  } else if (m.kind == fact::mistake::rank) {
    text = reader + " reads " + dimensions_text(m.wanted) + ", " + producer + " has " + found + "; " +
           (of_input ? input_cure : "give it what it reads");
  } else {
    text = reader + " reads " + wanted + " " + of + ", " + producer + " gives " + found + "; make the two equal" +
           (of_input ? ", or " + input_cure : "");
  }
  throw error(exit_code::usage, text);
}

}  // namespace redco::shard::detail
