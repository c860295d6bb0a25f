#pragma once

#include <redco/update/detail/check_segment.hpp>

#include <redco/tensor/torch.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <cstddef>
#include <string>

namespace redco::update::detail {

[[noreturn]] inline void refuse_segment(std::string const& why) {
  throw error(exit_code::internal, "an optimizer segment " + why + "; see redco/update/segment.hpp");
}

REDCO_INLINE void check_segment(segment const& s, int slots) {
  auto const flat = [&](at::Tensor const& t, char const* name) {
    if (!t.defined() || t.dim() != 1 || !t.is_contiguous() || t.device() != s.param.device() ||
        t.numel() != s.param.numel())
      refuse_segment(std::string("has a ") + name +
                     " that is not a flat buffer as long as its parameters, on their device");
  };
  flat(s.param, "param");
  flat(s.grad, "grad");
  if (s.param.scalar_type() != at::kFloat && s.param.scalar_type() != at::kDouble)
    refuse_segment(std::string("has masters of ") + c10::toString(s.param.scalar_type()) + ", not f32 or f64");
  if (s.slots.size() != static_cast<std::size_t>(slots))
    refuse_segment("has " + std::to_string(s.slots.size()) + " slots where the optimizer keeps " +
                   std::to_string(slots));
  for (auto const& slot : s.slots) {
    flat(slot, "slot");
    if (slot.scalar_type() != s.param.scalar_type()) refuse_segment("has a slot of another dtype than its parameters");
  }
  if (s.compute.defined()) flat(s.compute, "compute copy");
}

}  // namespace redco::update::detail
