#pragma once

#include <redco/nn/key_value_cache.hpp>

#include <redco/config.hpp>
#include <redco/diag/error.hpp>

#include <string>

namespace redco {

REDCO_INLINE std::pair<at::Tensor, at::Tensor> key_value_cache::append(std::size_t slot, at::Tensor const& k,
                                                                       at::Tensor const& v) {
  std::int64_t const end = length_ + k.size(1);
  if (end > capacity_)
    throw error(exit_code::internal, "key-value cache holds " + std::to_string(capacity_) + " positions, position " +
                                         std::to_string(end) + " was asked for; make it larger");
  auto& [keys, values] = slots_[slot];
  if (!keys.defined()) {
    keys = at::empty({k.size(0), capacity_, k.size(2)}, k.options());
    values = at::empty({v.size(0), capacity_, v.size(2)}, v.options());
  }
  keys.narrow(1, length_, k.size(1)).copy_(k);
  values.narrow(1, length_, v.size(1)).copy_(v);
  return {keys.narrow(1, 0, end), values.narrow(1, 0, end)};
}

REDCO_INLINE void key_value_cache::select_rows(at::Tensor const& rows) {
  for (auto& [keys, values] : slots_) {
    if (!keys.defined()) continue;
    bool const shared = !values.defined(), grows = keys.size(0) != rows.size(0);
    if (shared && !grows) continue;
    if (shared || grows) {
      keys = keys.index_select(0, rows);
      if (!shared) values = values.index_select(0, rows);
      continue;
    }
    for (at::Tensor const& all : {keys, values}) {
      at::Tensor const used = all.narrow(1, 0, length_);
      used.copy_(used.index_select(0, rows));
    }
  }
}

}  // namespace redco
