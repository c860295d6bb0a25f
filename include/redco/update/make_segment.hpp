#pragma once

#include <redco/update/segment.hpp>

#include <redco/optimizer/optimizer_description.hpp>

#include <redco/tensor/torch.hpp>

#include <utility>

namespace redco::update {

/// A segment over `param` and `grad` with the state that `description` keeps, all zero. Without `compute` the model
/// computes with the masters.
template <optimizer_description Description>
segment make_segment(Description const& description, at::Tensor param, at::Tensor grad, bool decay,
                     at::Tensor compute = {}) {
  segment result{std::move(param), std::move(grad), {}, std::move(compute), decay};
  for (int i = 0; i < state_slots(description).size(); ++i) result.slots.push_back(at::zeros_like(result.param));
  return result;
}

}  // namespace redco::update
