#pragma once

#include <redco/nn/parameter_store.hpp>

#include <redco/tensor/flat_zeros.hpp>
#include <redco/tensor/scalar_type.hpp>
#include <redco/shard/owners.hpp>
#include <redco/random/normal.hpp>
#include <redco/random/stream.hpp>
#include <redco/random/uniform.hpp>
#include <redco/diag/error.hpp>
#include <redco/meta/glob.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

namespace redco::nn::detail {

/// Returns the part of `local`, a rank's part of a parameter, that holds elements of the parameter.
inline at::Tensor without_padding(at::Tensor local, extents const& held) {
  for (int d = 0; d < held.rank; ++d) local = local.narrow(d, 0, held[d]);
  return local;
}

/// Returns random numbers of mean 0 for the part of a parameter that `rank` holds, without padding.
/// Each number depends on the key and the element's global index.
inline at::Tensor drawn(stored_parameter const& p, int rank, random::stream key, double deviation, bool uniform) {
  extents const held = p.plan.logical(rank);
  // A row of the innermost dimension is a run of consecutive global indices. A scalar is one row.
  std::int64_t const inner = held.rank > 0 ? held[-1] : 1, rows = inner > 0 ? held.count() / inner : 0;
  at::Tensor const all = at::empty({rows, inner}, p.master.options().device(tensors::cpu_device()));
  AT_DISPATCH_FLOATING_TYPES(all.scalar_type(), "drawn", [&] {
    for (std::int64_t r = 0; r < rows; ++r) {
      auto const first = static_cast<std::uint64_t>(p.plan.first_of_row(rank, r));
      scalar_t* const row = all.data_ptr<scalar_t>() + r * inner;
      if (uniform) random::fill_uniform(row, first, inner, key, 0.0, deviation);
      else random::fill_normal(row, first, inner, key, 0.0, deviation);
    }
  });
  return all.view(at::IntArrayRef(held.size.data(), static_cast<std::size_t>(held.rank)));
}

/// Replaces the memory of a flat buffer, of which views exist, by `bytes` uninitialised bytes.
inline void set_memory(at::Tensor const& flat, std::size_t bytes) {
  c10::StorageImpl& storage = *flat.storage().unsafeGetStorageImpl();
  storage.set_data_ptr_noswap(storage.allocator()->allocate(bytes));
  storage.set_nbytes(bytes);
}

}  // namespace redco::nn::detail

namespace redco::nn {

REDCO_INLINE parameter_store::parameter_store(std::vector<shard::placed_parameter> const& placed, int rank,
                                              dtype compute, std::uint64_t seed, std::vector<std::string> const& frozen,
                                              at::Device device, shape::zero const& zero)
    : compute_(compute), seed_(seed), device_(device) {
  std::vector<bool> used(frozen.size(), false);
  for (shard::placed_parameter const& p : placed) {
    stored_parameter s{p.name, p.plan, 0, p.plan.fact.trained, -1, {}, {}, {}};
    for (std::size_t i = 0; i < frozen.size(); ++i)
      if (meta::glob(frozen[i], p.name)) s.trainable = false, used[i] = true;
    if (p.plan.is_held_by(rank)) parameters_.push_back(std::move(s));
    else elsewhere_.insert(p.name);
  }
  for (std::size_t i = 0; i < frozen.size(); ++i)
    if (!used[i])
      throw error(exit_code::usage,
                  "frozen pattern '" + frozen[i] + "' matches no parameter; the plan lists their names");
  if (!parameters_.empty()) zero_ = zero.on(parameters_.front().plan.mesh);
  if (zero_.level > 0 && zero_.owner == shape::zero_owner::whole) {
    give_out(rank);
  } else {
    share_out(rank);
    lay_out();
  }
  allocate();
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (!index_.emplace(parameters_[i].name, i).second)
      throw error(exit_code::internal,
                  "two parameters are called '" + parameters_[i].name + "': give their layers names with redco::named");
    initialise(parameters_[i], rank, seed);
  }
  publish();
}

REDCO_INLINE stored_parameter const* parameter_store::find(std::string_view name) const {
  auto const at = index_.find(std::string(name));
  return at == index_.end() ? nullptr : &parameters_[at->second];
}

REDCO_INLINE void parameter_store::lay_out() {
  std::vector<std::int64_t> next;
  for (shard::region const& one : regions_) next.push_back(one.begin);
  for (stored_parameter& p : parameters_) {
    std::int64_t& end = next[regions_.index_of(region_of(p))];
    p.offset = end;
    end += p.plan.local().count();
  }
}

/// Sets the regions of the flat buffers, and the share of them that `rank` keeps.
REDCO_INLINE void parameter_store::share_out(int rank) {
  for (stored_parameter const& p : parameters_) regions_.add(region_of(p), p.plan.local().count());
  if (zero_.level == 0) return;
  redco::mesh const& on = parameters_.front().plan.mesh;
  std::vector<std::int64_t> ends;  // of the elements without padding, by region
  for (shard::region const& one : regions_) ends.push_back(one.size());
  regions_ = shard::padded_for_shares(regions_, on, zero_.shared_over);
  shares_ = shard::shares_of(regions_, on, zero_.bytes_of_sum() / shape::size_of(compute_), zero_.shared_over);
  std::int64_t packed = 0;
  for (shard::shared_range const& range : shares_) {
    std::int64_t const begin = range.share_begin(on.coordinate(rank, range.over)), end = begin + range.share();
    std::size_t index = 0;
    for (shard::region const& one : regions_) {
      std::int64_t const from = std::max(begin, one.begin), to = std::min(end, one.begin + ends[index++]);
      if (from >= to) continue;
      kept_.push_back({from, to, packed});
      packed += to - from;
    }
  }
}

/// Sets the places of the parameters in the flat buffers, of which some belong wholly to one
/// replica, and the parts that `rank` keeps.
REDCO_INLINE void parameter_store::give_out(int rank) {
  redco::mesh const& on = parameters_.front().plan.mesh;
  std::vector<shard::owned_parameter> all;
  for (stored_parameter const& p : parameters_)
    all.push_back(shard::owned_parameter_of(p.plan.fact, on, p.trainable, zero_, p.plan.block));
  std::int64_t const most = zero_.sums_in_backward() ? zero_.bytes_of_sum() / shape::size_of(compute_) : 0;
  auto layout = shard::owned_layout(all, on, most, zero_.shared_over);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    parameters_[i].offset = layout.places[i].front().offset;
    parameters_[i].owner = layout.places[i].front().owner;
  }
  regions_ = layout.regions;
  shares_ = std::move(layout.shares);
  std::int64_t packed = 0;
  for (std::size_t i = 0; i < shares_.size(); ++i) {
    int const index = on.coordinate(rank, shares_[i].over);
    std::int64_t const begin = shares_[i].share_begin(index), size = layout.kept[i][static_cast<std::size_t>(index)];
    if (size > 0) kept_.push_back({begin, begin + size, packed});
    packed += size;
  }
}

REDCO_INLINE void parameter_store::allocate() {
  at::NoGradGuard const no_grad;
  auto const options = at::TensorOptions(device_).dtype(tensors::scalar_type_of(compute_));
  auto const of_masters = has_masters() ? options.dtype(at::kFloat) : options;
  std::int64_t const kept = kept_.empty() ? 0 : kept_.back().packed + kept_.back().end - kept_.back().begin;
  std::int64_t const trained = regions_.trained(), all = regions_.size();
  bool const cut = shares_values() || (has_masters() && !shares_.empty());
  if (shares_values()) {
    for (shard::region const& one : regions_) {
      bool const continues = !value_parts_.empty() && value_parts_.back().block == one.block &&
                             (one.trained || value_parts_.back().begin >= trained);
      if (continues) value_parts_.back().end = one.end;
      else value_parts_.push_back({one.begin, one.end, one.block, {}});
    }
    for (value_part& one : value_parts_) one.values = tensors::flat_zeros(one.end - one.begin, options);
  } else {
    values_ = tensors::flat_zeros(all, options);
  }
  if (!has_masters()) masters_ = values_;
  else masters_ = tensors::flat_zeros(cut && !shares_values() ? trained : all, of_masters);
  if (cut) kept_masters_ = tensors::flat_zeros(kept, of_masters);
  if (cut && !shares_values()) frozen_masters_ = tensors::flat_zeros(all - trained, of_masters);
  if (shares_values()) kept_values_ = has_masters() ? tensors::flat_zeros(kept, options) : kept_masters_;
  std::int64_t kept_trained = 0;
  for (kept_range const& one : kept_)
    if (one.begin < trained) kept_trained += one.end - one.begin;
  gradients_ = tensors::flat_zeros(has_cut_gradients() ? kept_trained : trained, options);
  for (stored_parameter& p : parameters_) {
    extents const local = p.plan.local();
    at::IntArrayRef const sizes(local.size.data(), static_cast<std::size_t>(local.rank));
    p.value = values_at(p.offset, local.count()).view(sizes);
    p.master = masters_at(p.offset, local.count()).view(sizes);
    if (p.trainable && !has_cut_gradients()) p.gradient = gradients_.narrow(0, p.offset, local.count()).view(sizes);
  }
}

REDCO_INLINE at::Tensor parameter_store::values_at(std::int64_t begin, std::int64_t count) const {
  if (!shares_values()) return values_.narrow(0, begin, count);
  auto const after = std::upper_bound(value_parts_.begin(), value_parts_.end(), begin,
                                      [](std::int64_t at, value_part const& one) { return at < one.end; });
  // A parameter without elements may be after the last buffer's end.
  value_part const& of = after == value_parts_.end() ? value_parts_.back() : *after;
  return of.values.narrow(0, std::max(begin, of.begin) - of.begin, count);
}

REDCO_INLINE at::Tensor parameter_store::masters_at(std::int64_t begin, std::int64_t count) const {
  if (!has_masters()) return values_at(begin, count);
  bool const is_apart = frozen_masters_.defined() && begin >= masters_.numel();
  return is_apart ? frozen_masters_.narrow(0, begin - masters_.numel(), count) : masters_.narrow(0, begin, count);
}

REDCO_INLINE std::int64_t parameter_store::first_element(at::Tensor const& leaf) const {
  if (!shares_values()) return leaf.storage_offset() - values_.storage_offset();
  for (value_part const& one : value_parts_)
    if (one.values.is_alias_of(leaf)) return one.begin + leaf.storage_offset();
  throw error(exit_code::internal, "a leaf is no view of the parameter store");
}

REDCO_INLINE void parameter_store::publish() const {
  at::NoGradGuard const no_grad;
  if (!has_masters() || has_cut_masters()) return;
  for (value_part const& one : value_parts_)
    at::Tensor(one.values).copy_(masters_.narrow(0, one.begin, one.end - one.begin));
  if (shares_values()) return;
  values_.narrow(0, 0, masters_.numel()).copy_(masters_);
  if (frozen_masters_.defined()) values_.slice(0, masters_.numel()).copy_(frozen_masters_);
}

REDCO_INLINE void parameter_store::cut_masters() const {
  if (!kept_masters_.defined() || is_cut_) return;
  at::NoGradGuard const no_grad;
  publish();
  for (kept_range const& one : kept_) {
    std::int64_t const count = one.end - one.begin;
    kept_masters_.narrow(0, one.packed, count).copy_(masters_at(one.begin, count));
    if (shares_values()) kept_values_.narrow(0, one.packed, count).copy_(values_at(one.begin, count));
  }
  if (has_masters()) detail::set_memory(masters_, 0);
  for (value_part const& one : value_parts_) drop(one);
  forget_dropped();
  is_cut_ = true;
}

REDCO_INLINE void parameter_store::join_masters() const {
  if (!is_cut_) return;
  at::NoGradGuard const no_grad;
  for (value_part const& one : value_parts_)
    if (!is_whole(one)) static_cast<void>(allocate(one));
  if (has_masters()) {
    detail::set_memory(masters_, masters_.nbytes());
    masters_.zero_();
    for (kept_range const& one : kept_)
      masters_.narrow(0, one.begin, one.end - one.begin)
          .copy_(kept_masters_.narrow(0, one.packed, one.end - one.begin));
  }
  is_cut_ = false;
}

REDCO_INLINE at::Tensor parameter_store::allocate(value_part const& one) const {
  at::NoGradGuard const no_grad;
  memory reused = std::exchange(dropped_, {});
  if (reused.bytes == one.values.nbytes()) {
    c10::StorageImpl& storage = *one.values.storage().unsafeGetStorageImpl();
    storage.set_data_ptr_noswap(std::move(reused.data));
    storage.set_nbytes(reused.bytes);
  } else {
    detail::set_memory(one.values, one.values.nbytes());
  }
  // Autograd must not take this for a change of the values, so the tensor counts its own changes.
  at::Tensor const values = one.values.variable_data();
  for (kept_range const& kept : kept_)
    if (one.begin <= kept.begin && kept.end <= one.end)
      values.narrow(0, kept.begin - one.begin, kept.end - kept.begin)
          .copy_(kept_values_.narrow(0, kept.packed, kept.end - kept.begin));
  return values;
}

REDCO_INLINE void parameter_store::drop(value_part const& one) const {
  c10::StorageImpl& storage = *one.values.storage().unsafeGetStorageImpl();
  if (storage.nbytes() == 0) return;
  dropped_ = {};
  dropped_.bytes = storage.nbytes();
  dropped_.data = storage.set_data_ptr(storage.allocator()->allocate(0));
  storage.set_nbytes(0);
}

REDCO_INLINE std::uint64_t parameter_store::seed_of(std::string_view name) const {
  return random::seed_of(seed_, name);
}

REDCO_INLINE void parameter_store::initialise(stored_parameter& p, int rank, std::uint64_t seed) {
  at::NoGradGuard const no_grad;
  fact::parameter_fact const& fact = p.plan.fact;
  if (fact.start.draw == fact::initial::kind::zeros) return;
  at::Tensor const part = detail::without_padding(p.master, p.plan.logical(rank));
  if (fact.start.draw == fact::initial::kind::ones) {
    part.fill_(1);
    return;
  }
  if (fact.start.draw == fact::initial::kind::own) {
    part.fill_(std::numeric_limits<double>::quiet_NaN());
    return;
  }
  random::stream const key = random::make_stream(seed, random::site_of(p.name), 0, 0);
  bool const uniform = fact.start.draw == fact::initial::kind::uniform;
  part.copy_(detail::drawn(p, rank, key, fact.start.deviation, uniform));
}

REDCO_INLINE void parameter_store::add_noise(double deviation, int rank, std::uint64_t seed, std::uint64_t step) const {
  at::NoGradGuard const no_grad;
  std::uint64_t const own = random::seed_of(seed, "gradient noise");
  for (stored_parameter const& p : parameters_) {
    if (!p.trainable) continue;
    at::Tensor const noise =
        detail::drawn(p, rank, random::make_stream(own, random::site_of(p.name), step, 0), deviation, false);
    if (!has_cut_gradients()) {
      detail::without_padding(p.gradient, p.plan.logical(rank)).add_(noise.to(device_));
      continue;
    }
    at::Tensor const padded = at::zeros_like(p.value, noise.options());
    detail::without_padding(padded, p.plan.logical(rank)).copy_(noise);
    at::Tensor const flat = padded.view({-1}).to(device_);
    for (kept_range const& one : kept_) {
      std::int64_t const from = std::max(one.begin, p.offset), to = std::min(one.end, p.offset + flat.numel());
      if (to <= from) continue;
      at::Tensor share = gradients_.narrow(0, one.packed + from - one.begin, to - from);
      share.add_(flat.narrow(0, from - p.offset, to - from));
    }
  }
}

REDCO_INLINE parameter leaves::take(std::vector<std::string> const& names) {
  if (is_elsewhere(names.front())) return {};
  parameter const here{static_cast<std::int32_t>(taken_.size())};
  taken_.push_back(leaf_of(names));
  for (std::string const& name : names) by_name_[name] = here;
  return here;
}

REDCO_INLINE parameter leaves::tied(std::string const& name) const {
  if (is_elsewhere(name)) return {};
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
    if (p.trainable != first.trainable)
      throw error(exit_code::usage,
                  "'" + names.front() + "' and '" + name + "' are read as one matrix: freeze both or neither");
    if (p.offset != end)
      throw error(exit_code::usage, "'" + names.front() + "' and '" + name +
                                        "' are read as one matrix and are not adjacent in memory: the facts of their "
                                        "layer declare them one after the other, those after the first with "
                                        "parameter_fact::is_joined");
    rows += p.value.dim() > 0 ? p.value.size(0) : 1;
    end += p.value.numel();
  }
  auto sizes = first.value.sizes().vec();
  if (!sizes.empty()) sizes[0] = rows;
  at::Tensor leaf = store_.values_at(first.offset, end - first.offset).view(sizes).detach();
  if (first.trainable) {
    leaf.requires_grad_();
    if (store_.has_cut_gradients()) return leaf;
    leaf.mutable_grad() = store_.gradients().narrow(0, first.offset, end - first.offset).view(sizes);
  }
  return leaf;
}

}  // namespace redco::nn
