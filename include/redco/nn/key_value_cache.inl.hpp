#pragma once

#include <redco/nn/key_value_cache.hpp>

#include <redco/tensor/device.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace redco::nn {

/// Assigns unused cache entries to the next `positions` positions of each row. The new entries of
/// one row are adjacent.
REDCO_INLINE void key_value_cache::assign_entries(std::int64_t rows, std::int64_t positions) {
  if (length_ + positions > capacity_)
    throw error(exit_code::internal, "a key-value cache holds " + std::to_string(capacity_) + " positions, position " +
                                         std::to_string(length_ + positions) + " was asked for; make it larger");
  if (!indices_.defined()) {
    indices_ = at::empty({rows, capacity_}, at::kInt);
    room_ = rows * (positions + copies_ * (capacity_ - positions));
  }
  if (indices_.size(0) != rows || entries_ + rows * positions > room_)
    throw error(exit_code::internal, "a key-value cache of " + std::to_string(room_) + " entries was given " +
                                         std::to_string(rows) + " rows after " + std::to_string(indices_.size(0)) +
                                         "; choose them with select_rows, and say how many copies a row may have");
  auto* const at = indices_.mutable_data_ptr<std::int32_t>();
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t t = 0; t < positions; ++t)
      at[row * capacity_ + length_ + t] = static_cast<std::int32_t>(entries_ + row * positions + t);
  entries_ += rows * positions;
  assigned_ = length_ + positions;
}

REDCO_INLINE kernel::gathered_keys key_value_cache::append(std::size_t slot, at::Tensor const& k, at::Tensor const& v) {
  std::int64_t const rows = k.size(0), positions = k.size(1);
  if (assigned_ < length_ + positions) assign_entries(rows, positions);
  auto& [keys, values] = slots_[slot];
  if (!keys.defined()) {
    keys = at::empty({room_, k.size(2)}, k.options());
    values = at::empty({room_, v.size(2)}, v.options());
  }
  std::int64_t const count = rows * positions;
  keys.narrow(0, entries_ - count, count).view(k.sizes()).copy_(k);
  values.narrow(0, entries_ - count, count).view(v.sizes()).copy_(v);
  return {keys, values, indices_.narrow(1, 0, assigned_)};
}

REDCO_INLINE kernel::gathered_keys key_value_cache::shared_rows(at::Tensor const& both) {
  std::int64_t const rows = both.size(0), length = both.size(1);
  at::Tensor const all = both.flatten(0, 1);
  if (!shared_indices_.defined() || shared_indices_.size(1) != length) {
    at::Tensor const own = sources_.defined() ? sources_ : at::arange(rows, at::kLong);
    shared_indices_ = (own.unsqueeze(1) * length + at::arange(length, at::kLong)).to(at::kInt);
  }
  std::int64_t const features = all.size(1) / 2;
  return {all.narrow(1, 0, features), all.narrow(1, features, features), shared_indices_};
}

REDCO_INLINE void key_value_cache::select_rows(at::Tensor const& selected) {
  at::Tensor const rows = tensors::to_cpu(selected);
  std::int64_t const count = rows.size(0);
  if (!spare_.defined() || spare_.size(0) != count) spare_ = at::empty({count, capacity_}, at::kInt);
  auto const* const from = rows.const_data_ptr<std::int64_t>();
  if (indices_.defined()) {
    for (std::int64_t row = 0; row < count; ++row)
      std::copy_n(indices_.const_data_ptr<std::int32_t>() + from[row] * capacity_, length_,
                  spare_.mutable_data_ptr<std::int32_t>() + row * capacity_);
    std::swap(indices_, spare_);
  }
  at::Tensor const former = sources_;
  sources_ = former.defined() ? former.index_select(0, rows) : rows.clone();
  // Beams of one example share the example's keys, so the entries are still right.
  if (former.defined() && sources_.equal(former)) return;
  shared_indices_.reset();
}

}  // namespace redco::nn
