#pragma once

#include <redco/update/matrix.hpp>

#include <redco/comm/group.hpp>
#include <redco/shape/extents.hpp>
#include <redco/shape/place.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <cstddef>
#include <vector>

namespace redco::update {

REDCO_INLINE at::Tensor matrix::part(at::Tensor const& flat) const { return slot(flat, optimizer::slot_form::whole); }

REDCO_INLINE at::Tensor matrix::slot(at::Tensor const& flat, optimizer::slot_form form) const {
  using optimizer::slot_form;
  extents const local = plan_of(form).local();
  return flat
      .narrow(0,
              form == slot_form::rows      ? rows_begin
              : form == slot_form::columns ? columns_begin
                                           : begin,
              local.count())
      .view(at::IntArrayRef(local.size.data(), static_cast<std::size_t>(local.rank)));
}

REDCO_INLINE at::Tensor matrix::held(at::Tensor part) const {
  extents const size = plan.logical(rank);
  for (int d = 0; d < size.rank; ++d) part = part.narrow(d, 0, size[d]);
  return part;
}

REDCO_INLINE at::Tensor matrix::own(at::Tensor whole) const {
  extents const size = plan.logical(rank), first = plan.offset(rank);
  for (int d = 0; d < size.rank; ++d) whole = whole.narrow(d, first[d], size[d]);
  return whole;
}

REDCO_INLINE at::Tensor matrix::gathered(at::Tensor part, rank_context* on) const {
  for (shape::place const& p : plan.fact.places) {
    if (p.dim < 0 || !plan.is_split(p.axis)) continue;
    if (on == nullptr)
      throw error(exit_code::internal, "an update of a split matrix needs the ranks that hold its parts");
    comm::collective_label const label("whole matrices");
    at::Tensor all = on->group(p.axis).all_gather(part.contiguous(), p.dim);
    // Neighbouring ranks of a sharer group hold equal parts; one of them is enough.
    if (int const sharers = plan.sharers(p.axis); sharers > 1) {
      std::vector<at::Tensor> different;
      for (int i = 0; i < plan.mesh[p.axis]; i += sharers)
        different.push_back(all.narrow(p.dim, i * part.size(p.dim), part.size(p.dim)));
      all = at::cat(different, p.dim);
    }
    part = all.narrow(p.dim, 0, plan.fact.shape[p.dim]);  // padding is at the end
  }
  return part;
}

}  // namespace redco::update
