#pragma once

#include <redco/update/segment.hpp>

namespace redco::update::detail {

/// Throws `error` with exit code 70 unless the tensors of `s` fit the requirements of segment.hpp
/// and there are `slots` state slots.
void check_segment(segment const& s, int slots);

}  // namespace redco::update::detail

#ifndef REDCO_COMPILED
#include <redco/update/detail/check_segment.inl.hpp>
#endif
