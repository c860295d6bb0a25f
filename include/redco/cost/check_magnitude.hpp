#pragma once

#include <redco/cost/setup.hpp>

#include <redco/fact/event.hpp>
#include <redco/fact/message_fact.hpp>
#include <redco/fact/parameter_fact.hpp>
#include <redco/fact/program.hpp>
#include <redco/shape/largest.hpp>
#include <redco/shape/saturating.hpp>

#include <redco/diag/error.hpp>

#include <cstdint>
#include <vector>

namespace redco::cost {

/// Returns an upper bound of every sum of bytes in the cost computation, or `saturated` if the
/// bound exceeds 63 bits. The bound is a product of three numbers. These are the elements of all
/// declared tensors, 16 bytes (the widest type plus padding), and the number of copies by optimizer
/// states, prefetched batches and messages.
constexpr std::int64_t cost_bound(fact::program const& facts, int slots, setup const& s) {
  std::int64_t elements = 0;
  auto const add = [&](extents const& shape, std::int64_t copies) {
    elements = shape::saturating_add(elements, shape::saturating_multiply(shape.count(), copies));
  };
  for (fact::parameter_fact const& f : facts.parameters) add(f.shape, f.copies());
  std::vector<std::int64_t> blocks = {1};  // product of the block counts of all open repeats
  for (fact::event const& e : facts.events) {
    if (e.what == fact::event_kind::repeat)
      blocks.push_back(shape::saturating_multiply(blocks.back(), e.blocks.count()));
    if (e.what == fact::event_kind::repeat_end) blocks.pop_back();
    bool const held = e.what != fact::event_kind::read && e.what != fact::event_kind::enter &&
                      e.what != fact::event_kind::make && e.what != fact::event_kind::moment;
    if (held && e.tensor.shape.rank > 0) add(e.tensor.shape, blocks.back());
  }
  for (fact::message_fact const& f : facts.messages) add(f.shape, f.copies);
  std::int64_t const ahead = shape::saturating_add(s.prefetch, 1),
                     messages = shape::saturating_multiply(s.micro_batches, 4);
  std::int64_t const times = shape::saturating_add(shape::largest({ahead, slots + 3}), messages);
  return shape::saturating_multiply(shape::saturating_multiply(elements, 16), times);
}

/// Throws `error` with exit code 64 if the cost of the run could exceed 64-bit integers. No later
/// sum or product can then overflow.
constexpr void check_magnitude(fact::program const& facts, int slots, setup const& s) {
  if (cost_bound(facts, slots, s) == shape::saturated)
    throw error(exit_code::usage,
                "the model and its batches have more bytes than 63 bits can count; give smaller sizes");
}

}  // namespace redco::cost
