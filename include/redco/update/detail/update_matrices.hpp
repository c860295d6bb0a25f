#pragma once

#include <redco/update/segment.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/optimizer/muon.hpp>

#include <cstdint>

namespace redco::update::detail {

/// Updates a segment by Muon: hidden matrices as a whole, and other parameters by AdamW. `on` is
/// the rank, if matrices are split.
void update_by(optimizer::muon const& d, segment& s, double lr, std::int64_t step, double grad_scale,
               rank_context* on = nullptr);

}  // namespace redco::update::detail

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/update/detail/update_matrices.inl.hpp>
#endif
