#pragma once

#include <redco/update/segment.hpp>

#include <redco/optimizer/optimizer_description.hpp>

#include <redco/tensor/torch.hpp>

#include <utility>

namespace redco::update {

/// Returns a segment (parameters that are updated alike) over the flat buffers `param` and `grad`.
/// Its optimizer state, as `description` requires, is zero. If `compute` is undefined, the model
/// computes with `param` itself.
template <optimizer::optimizer_description Description>
segment make_segment(Description const& description, at::Tensor param, at::Tensor grad, bool decay,
                     at::Tensor compute = {}) {
  segment result{std::move(param), std::move(grad), {}, std::move(compute), decay};
  for (int i = 0; i < optimizer::state_slots(description).size(); ++i)
    result.slots.push_back(at::zeros_like(result.param));
  return result;
}

}  // namespace redco::update
