#pragma once

#include <redco/update/segment.hpp>
#include <redco/optimizer/optimizers.hpp>

#include <cstdint>

namespace redco::update::detail {

/// Throws `error` with exit code 70 if the tensors of segment `s` break the requirements in
/// segment.hpp, or if `s` does not have the tensors of optimizer state `slots`.
void check_segment(segment const& s, optimizer::slot_list const& slots);

/// Updates a segment by the rule of one of redco's own optimizers, here AdamW. See update::update
/// for the parameters.
void update_by(adamw const& d, segment& s, double lr, std::int64_t step, double grad_scale);
void update_by(adam const& d, segment& s, double lr, std::int64_t step, double grad_scale);
void update_by(sgd const& d, segment& s, double lr, std::int64_t step, double grad_scale);

}  // namespace redco::update::detail

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/update/detail/update_by.inl.hpp>
#endif
