#pragma once

#include <redco/update/segment.hpp>

namespace redco::update::detail {

/// Throws `error` with exit code 70 if the tensors of segment `s` break the requirements in
/// segment.hpp, or if `s` does not have `slots` tensors of optimizer state.
void check_segment(segment const& s, int slots);

}  // namespace redco::update::detail

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/update/detail/check_segment.inl.hpp>
#endif
