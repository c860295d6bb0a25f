#pragma once

#include <redco/shard/entry.hpp>

#include <redco/shape/mesh.hpp>

#include <cstdint>

namespace redco::shard {

/// Rule that a width breaks for a parameter; ok if none.
enum class legality : std::uint8_t {
  ok,
  heads,            ///< number of heads not divisible by the width (S001)
  key_value_heads,  ///< key-value heads do not match the width (S002)
  declared_split,   ///< an even split does not divide (S003)
  vocabulary,       ///< fewer vocabulary rows than ranks (S003)
};

/// Returns ok if the mesh can hold a parameter, otherwise the broken rule.
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
