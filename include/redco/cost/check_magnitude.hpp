#pragma once

#include <redco/cost/setup.hpp>

#include <redco/fact/activation_fact.hpp>
#include <redco/fact/parameter_fact.hpp>
#include <redco/shape/largest.hpp>
#include <redco/shape/saturating.hpp>

#include <redco/diag/error.hpp>

#include <cstdint>

namespace redco {

/// More than the cost adds up anywhere: elements of all facts, 16 bytes each (the widest type, and as much padding), as
/// often as a state, a batch ahead or a message repeats them. `saturated` where that does not fit into 63 bits.
template <class Facts>
constexpr std::int64_t cost_bound(Facts const& facts, int slots, setup const& s) {
  std::int64_t elements = 0;
  auto const add = [&](extents const& shape, std::int64_t copies) {
    elements = saturating_add(elements, saturating_multiply(shape.count(), copies));
  };
  for (parameter_fact const& f : facts.parameters) add(f.shape, f.copies());
  for (saved_fact const& f : facts.saved) add(f.shape, largest({f.copies, f.blocks}));
  for (message_fact const& f : facts.messages) add(f.shape, f.copies);
  std::int64_t const ahead = saturating_add(s.prefetch, 1), messages = saturating_multiply(s.micro_batches, 4);
  std::int64_t const times = saturating_add(largest({ahead, slots + 3}), messages);
  return saturating_multiply(saturating_multiply(elements, 16), times);
}

/// Refuses what 64-bit integers cannot count, so that no later sum or product overflows.
/// Errors: exit code 64.
template <class Facts>
constexpr void check_magnitude(Facts const& facts, int slots, setup const& s) {
  if (cost_bound(facts, slots, s) == saturated)
    throw error(exit_code::usage,
                "the model and its batches have more bytes than 63 bits can count; give smaller sizes");
}

}  // namespace redco
