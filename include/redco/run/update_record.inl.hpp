#pragma once

#include <redco/run/update_record.hpp>

#include <redco/config.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

namespace redco::run {

REDCO_INLINE at::Tensor held_copy(ckpt::state_part const& part) { return ckpt::detail::held_values(part).clone(); }

REDCO_INLINE void update_recorder::computed(terms const& loss) {
  for (terms::term const& one : loss.all)
    if (c10::elementSize(one.loss.sum.scalar_type()) < c10::elementSize(now_.loss_type))
      now_.loss_type = one.loss.sum.scalar_type();
}

REDCO_INLINE void update_recorder::begin(network_state const& state) {
  now_.parameters.clear();
  before_.clear();
  for (ckpt::state_part const& part : state.master_parts()) {
    now_.parameters.push_back({part.name, part.place, {}, {}, {}});
    before_.push_back(held_copy(part));
  }
}

REDCO_INLINE void update_recorder::reduced(network_state const& state, double divisor) {
  begin(state);
  auto const parts = state.master_parts();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    nn::stored_parameter const* const stored = state.store.find(parts[i].name);
    if (!stored->gradient.defined()) continue;
    ckpt::state_part gradient = parts[i];
    gradient.local = stored->gradient;
    now_.parameters[i].gradient = held_copy(gradient).div_(divisor);
  }
}

REDCO_INLINE void update_recorder::updated(network_state const& state) {
  auto const parts = state.master_parts();
  for (std::size_t i = 0; i < parts.size(); ++i) now_.parameters[i].update = held_copy(parts[i]).sub_(before_[i]);
  std::string_view const prefix = "optimizer.";
  std::map<std::string, std::size_t, std::less<>> places;
  for (std::size_t i = 0; i < parts.size(); ++i) places[state.name + parts[i].name] = i;
  for (ckpt::state_part const& part : state.parts()) {
    if (!part.name.starts_with(prefix)) continue;
    std::string_view const name = std::string_view(part.name).substr(part.name.find('.', prefix.size()) + 1);
    if (auto const at = places.find(name); at != places.end())
      now_.parameters[at->second].slots.push_back(held_copy(part));
  }
}

REDCO_INLINE update_record update_recorder::take(step_result const& result) {
  update_record done = std::exchange(now_, {});
  done.result = result;
  before_.clear();
  return done;
}

}  // namespace redco::run
