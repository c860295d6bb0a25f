#pragma once

#include <redco/update/segment.hpp>

namespace redco::update::detail {

/// Throws error 70 unless the buffers of `s` are what segment.hpp says, with `slots` slots.
void check_segment(segment const& s, int slots);

}  // namespace redco::update::detail

#ifndef REDCO_COMPILED
#include <redco/update/detail/check_segment.inl.hpp>
#endif
