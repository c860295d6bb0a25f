#pragma once

#include <redco/update/segment.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/optimizer/muon.hpp>
#include <redco/optimizer/optimizers.hpp>

#include <cstdint>

namespace redco::update::detail {

/// Updates a segment by a rule that treats each element alone, here Lion. See update::update for
/// the parameters.
void update_by(optimizer::lion const& d, segment& s, double lr, std::int64_t step, double grad_scale);
void update_by(optimizer::ademamix const& d, segment& s, double lr, std::int64_t step, double grad_scale);
void update_by(optimizer::schedule_free const& d, segment& s, double lr, std::int64_t step, double grad_scale);

/// Updates a segment by Adafactor: each parameter as a whole. `on` is the rank, if parameters are
/// split. The ranks of a cut sum twice for each parameter. The first sum has the squares of rows or
/// columns, and of the parameter. The second has the state of the rows and the squared update.
void update_by(optimizer::adafactor const& d, segment& s, double lr, std::int64_t step, double grad_scale,
               rank_context* on = nullptr);

/// Updates a segment by Muon: hidden matrices as a whole, and other parameters by AdamW. `on` is
/// the rank, if matrices are split.
void update_by(optimizer::muon const& d, segment& s, double lr, std::int64_t step, double grad_scale,
               rank_context* on = nullptr);

}  // namespace redco::update::detail

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/update/detail/update_elements.inl.hpp>
#endif
