#pragma once

#include <redco/nn/leaves.hpp>

#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <cstdint>

namespace redco::nn {

REDCO_INLINE parameter leaves::take(std::vector<std::string> const& names) {
  parameter const here{static_cast<std::int32_t>(taken_.size())};
  taken_.push_back(leaf_of(names));
  for (std::string const& name : names) by_name_[name] = here;
  return here;
}

REDCO_INLINE parameter leaves::tied(std::string const& name) const {
  auto const at = by_name_.find(name);
  if (at == by_name_.end())
    throw error(exit_code::internal,
                "no layer before the tied one owns the parameter '" + name + "'; name its full path");
  return at->second;
}

REDCO_INLINE void leaves::start(std::string const& name, at::Tensor const& value) const {
  stored_parameter const& p = stored(name);
  at::NoGradGuard const no_grad;
  if (p.plan.fact.start.draw != fact::initial::kind::own || !p.master.isnan().all().item<bool>()) return;
  p.master.copy_(value);
  p.value.copy_(p.master);
}

REDCO_INLINE stored_parameter const& leaves::stored(std::string const& name) const {
  if (stored_parameter const* const p = store_.find(name)) return *p;
  throw error(exit_code::internal, "a module takes '" + name + "', which its layer's facts do not state");
}

REDCO_INLINE at::Tensor leaves::leaf_of(std::vector<std::string> const& names) const {
  stored_parameter const& first = stored(names.front());
  std::int64_t rows = 0, end = first.offset;
  for (std::string const& name : names) {
    stored_parameter const& p = stored(name);
    if (p.offset != end || p.trainable != first.trainable)
      throw error(exit_code::usage,
                  "'" + names.front() + "' and '" + name + "' are read as one matrix: freeze both or neither");
    rows += p.value.size(0);
    end += p.value.numel();
  }
  auto sizes = first.value.sizes().vec();
  sizes[0] = rows;
  at::Tensor leaf = store_.values().narrow(0, first.offset, end - first.offset).view(sizes).detach();
  if (first.trainable) {
    leaf.requires_grad_();
    leaf.mutable_grad() = store_.gradients().narrow(0, first.offset, end - first.offset).view(sizes);
  }
  return leaf;
}

}  // namespace redco::nn
