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
  // A row of the innermost dimension is a run of consecutive global indices.
  std::int64_t const inner = held[-1], rows = inner > 0 ? held.count() / inner : 0;
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
  shape::zero const shared = parameters_.empty() ? zero : zero.on(parameters_.front().plan.mesh);
  if (!parameters_.empty() && shared.level > 0 && shared.owner == shape::zero_owner::whole) {
    give_out(rank, shared);
  } else {
    if (!parameters_.empty()) share_out(rank, shared);
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
  auto const kind = [](stored_parameter const& p) { return shard::region_of(p.plan, p.trainable); };
  std::vector<std::int64_t> next;
  for (shard::region const& one : regions_) next.push_back(one.begin);
  for (stored_parameter& p : parameters_) {
    std::int64_t& end = next[regions_.index_of(kind(p))];
    p.offset = end;
    end += p.plan.local().count();
  }
}

/// Sets the regions of the flat buffers, and the share of them that `rank` keeps.
REDCO_INLINE void parameter_store::share_out(int rank, shape::zero const& zero) {
  for (stored_parameter const& p : parameters_)
    regions_.add(shard::region_of(p.plan, p.trainable), p.plan.local().count());
  if (zero.level == 0) return;
  sums_in_backward_ = zero.sums_in_backward();
  redco::mesh const& on = parameters_.front().plan.mesh;
  std::vector<std::int64_t> ends;  // of the elements without padding, by region
  for (shard::region const& one : regions_) ends.push_back(one.size());
  regions_ = shard::padded_for_shares(regions_, on);
  shares_ = shard::shares_of(regions_, on, zero.bytes_of_sum() / shape::size_of(compute_));
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
REDCO_INLINE void parameter_store::give_out(int rank, shape::zero const& zero) {
  redco::mesh const& on = parameters_.front().plan.mesh;
  std::vector<shard::owned_parameter> all;
  for (stored_parameter const& p : parameters_)
    all.push_back(shard::owned_parameter_of(p.plan.fact, on, p.trainable, zero));
  shard::owned_layout layout(all, on);
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
  values_ = tensors::flat_zeros(regions_.size(), options);
  bool const apart = compute_ != dtype::f64 && compute_ != dtype::f32, cut = apart && !shares_.empty();
  auto const of_masters = options.dtype(at::kFloat);
  masters_ = !apart ? values_ : tensors::flat_zeros(cut ? regions_.trained() : regions_.size(), of_masters);
  std::int64_t const kept = kept_.empty() ? 0 : kept_.back().packed + kept_.back().end - kept_.back().begin;
  if (cut) {
    kept_masters_ = tensors::flat_zeros(kept, of_masters);
    frozen_masters_ = tensors::flat_zeros(regions_.size() - regions_.trained(), of_masters);
  }
  gradients_ = tensors::flat_zeros(sums_in_backward_ ? kept : regions_.trained(), options);
  for (stored_parameter& p : parameters_) {
    extents const local = p.plan.local();
    at::IntArrayRef const sizes(local.size.data(), static_cast<std::size_t>(local.rank));
    auto const view = [&](at::Tensor const& flat, std::int64_t first = 0) {
      return flat.narrow(0, p.offset - first, local.count()).view(sizes);
    };
    p.value = view(values_);
    p.master = cut && !p.trainable ? view(frozen_masters_, regions_.trained()) : view(masters_);
    if (p.trainable && !sums_in_backward_) p.gradient = view(gradients_);
  }
}

REDCO_INLINE void parameter_store::publish() const {
  at::NoGradGuard const no_grad;
  if (!has_masters() || has_cut_masters()) return;
  values_.narrow(0, 0, masters_.numel()).copy_(masters_);
  if (frozen_masters_.defined()) values_.slice(0, masters_.numel()).copy_(frozen_masters_);
}

REDCO_INLINE void parameter_store::cut_masters() const {
  if (!kept_masters_.defined() || has_cut_masters()) return;
  at::NoGradGuard const no_grad;
  publish();
  for (kept_range const& one : kept_)
    kept_masters_.narrow(0, one.packed, one.end - one.begin).copy_(masters_.narrow(0, one.begin, one.end - one.begin));
  detail::set_memory(masters_, 0);
}

REDCO_INLINE void parameter_store::join_masters() const {
  if (!has_cut_masters()) return;
  at::NoGradGuard const no_grad;
  detail::set_memory(masters_, masters_.nbytes());
  masters_.zero_();
  for (kept_range const& one : kept_)
    masters_.narrow(0, one.begin, one.end - one.begin).copy_(kept_masters_.narrow(0, one.packed, one.end - one.begin));
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
    if (!sums_in_backward_) {
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
    rows += p.value.size(0);
    end += p.value.numel();
  }
  auto sizes = first.value.sizes().vec();
  sizes[0] = rows;
  at::Tensor leaf = store_.values().narrow(0, first.offset, end - first.offset).view(sizes).detach();
  if (first.trainable) {
    leaf.requires_grad_();
    if (store_.has_cut_gradients()) return leaf;
    leaf.mutable_grad() = store_.gradients().narrow(0, first.offset, end - first.offset).view(sizes);
  }
  return leaf;
}

}  // namespace redco::nn
