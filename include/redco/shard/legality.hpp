#pragma once

#include <redco/shard/entry.hpp>

#include <redco/shape/mesh.hpp>

#include <cstdint>

namespace redco::shard {

/// Rules for cutting a parameter over the ranks of a mesh axis; each value names the broken rule,
/// `ok` none.
enum class legality : std::uint8_t {
  ok,
  heads,  ///< Broken rule: the number of heads must be a multiple of the number of ranks (S001)
  /// Broken rule: the number of key-value heads must divide the number of ranks, or be a multiple
  /// of it (S002).
  key_value_heads,
  /// Broken rule: the units of an even split must be a multiple of the number of ranks (S003)
  declared_split,
  /// Broken rule: a vocabulary must have at least as many rows as there are ranks (S003)
  vocabulary,
};

/// Returns the rule that cutting the parameter `fact` over the mesh breaks, or `ok` if the mesh can
/// hold it.
constexpr legality legality_of(fact::parameter_fact const& fact, mesh const& on) {
  if (can_split(fact, on)) return legality::ok;
  switch (fact.why) {
    case fact::reason::heads: return legality::heads;
    case fact::reason::key_value_heads: return legality::key_value_heads;
    case fact::reason::vocabulary: return legality::vocabulary;
    default: return legality::declared_split;
  }
}

}  // namespace redco::shard
