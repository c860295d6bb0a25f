#pragma once

#include <redco/shard/entry.hpp>

#include <redco/shape/mesh.hpp>

#include <cstdint>

namespace redco::shard {

/// Which rule a width breaks for a parameter.
enum class legality : std::uint8_t {
  ok,
  heads,            ///< S001
  key_value_heads,  ///< S002
  declared_split,   ///< S003: an even split that does not divide
  vocabulary,       ///< S003: fewer rows than ranks
};

/// Whether the mesh can hold a parameter, and if not, which rule says so.
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
