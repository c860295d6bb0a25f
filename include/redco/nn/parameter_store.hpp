#pragma once

#include <redco/diag/error.hpp>
#include <redco/meta/glob.hpp>
#include <redco/random/normal.hpp>
#include <redco/random/stream.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/shard/placed.hpp>
#include <redco/tensor/scalar_type.hpp>
#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace redco {

/// One rank's part of one parameter: views into the flat buffers.
struct stored_parameter {
  std::string name;
  entry plan;
  std::int64_t offset = 0;  ///< in elements, the same in every flat buffer
  bool trainable = true;
  at::Tensor value;     ///< [local extents], compute dtype: what forward reads
  at::Tensor master;    ///< [local extents], f32 (f64 where computed so): what the optimizer updates
  at::Tensor gradient;  ///< [local extents], compute dtype; undefined where frozen
};

/// All parameters of one rank in flat buffers: first those with weight decay, then norms and biases, then frozen ones,
/// each in the order in which layers state them, so an optimizer needs one call per run of equal treatment.
class parameter_store {
 public:
  /// Lays out and initialises this rank's part. Draws are keyed by (seed, name, global element index): every mesh
  /// starts bit-equal; padding is zero. `frozen` lists name patterns. Errors: exit code 64 for a pattern that matches
  /// nothing.
  parameter_store(std::vector<placed_parameter> const& placed, int mp_index, dtype compute, std::uint64_t seed,
                  std::vector<std::string> const& frozen = {}) {
    std::vector<bool> used(frozen.size(), false);
    for (placed_parameter const& p : placed) {
      stored_parameter s{p.name, p.plan, 0, true, {}, {}, {}};
      for (std::size_t i = 0; i < frozen.size(); ++i)
        if (glob(frozen[i], p.name)) s.trainable = false, used[i] = true;
      parameters_.push_back(std::move(s));
    }
    for (std::size_t i = 0; i < frozen.size(); ++i)
      if (!used[i])
        throw error(exit_code::usage,
                    "frozen pattern '" + frozen[i] + "' matches no parameter; the plan lists their names");
    lay_out();
    allocate(compute);
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      if (!index_.emplace(parameters_[i].name, i).second)
        throw error(exit_code::internal, "two parameters are called '" + parameters_[i].name +
                                             "': give their layers names with redco::named");
      initialise(parameters_[i], mp_index, seed);
    }
    publish();
  }

  std::span<stored_parameter const> parameters() const { return parameters_; }

  stored_parameter const* find(std::string_view name) const {
    auto const at = index_.find(std::string(name));
    return at == index_.end() ? nullptr : &parameters_[at->second];
  }

  /// Elements of the flat buffers with weight decay, without, and frozen ones behind both.
  std::int64_t decayed() const { return decayed_; }
  std::int64_t trainable() const { return trainable_; }
  std::int64_t size() const { return values_.numel(); }

  at::Tensor const& values() const { return values_; }
  at::Tensor const& masters() const { return masters_; }
  at::Tensor const& gradients() const { return gradients_; }
  bool has_masters() const { return values_.scalar_type() != masters_.scalar_type(); }

  /// Writes the masters into the values that forward reads (after an initialisation or a load).
  void publish() {
    if (has_masters()) values_.copy_(masters_);
  }

 private:
  void lay_out() {
    std::int64_t end = 0;
    auto const place = [&](auto&& wanted) {
      for (stored_parameter& p : parameters_)
        if (wanted(p)) p.offset = end, end += p.plan.local().count();
    };
    place([](stored_parameter const& p) { return p.trainable && p.plan.fact.decay; });
    decayed_ = end;
    place([](stored_parameter const& p) { return p.trainable && !p.plan.fact.decay; });
    trainable_ = end;
    place([](stored_parameter const& p) { return !p.trainable; });
    size_ = end;
  }

  void allocate(dtype compute) {
    at::NoGradGuard const no_grad;
    auto const type = scalar_type_of(compute);
    values_ = at::zeros({size_}, type);
    masters_ = compute == dtype::f64 || compute == dtype::f32 ? values_ : at::zeros({size_}, at::kFloat);
    gradients_ = at::zeros({trainable_}, type);
    for (stored_parameter& p : parameters_) {
      extents const local = p.plan.local();
      at::IntArrayRef const sizes(local.size.data(), static_cast<std::size_t>(local.rank));
      auto const view = [&](at::Tensor const& flat) { return flat.narrow(0, p.offset, local.count()).view(sizes); };
      p.value = view(values_);
      p.master = view(masters_);
      if (p.trainable) p.gradient = view(gradients_);
    }
  }

  static std::uint32_t site_of(std::string_view name) {
    std::uint32_t hash = 2166136261u;  // FNV-1a
    for (char const c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
    return hash;
  }

  static void initialise(stored_parameter& p, int mp_index, std::uint64_t seed) {
    at::NoGradGuard const no_grad;
    parameter_fact const& fact = p.plan.fact;
    if (fact.start.draw == initial::kind::zeros) return;
    extents const logical = p.plan.logical(mp_index);
    at::Tensor part = fact.split_dim >= 0 ? p.master.narrow(fact.split_dim, 0, logical[fact.split_dim]) : p.master;
    if (fact.start.draw == initial::kind::ones) {
      part.fill_(1);
      return;
    }
    // Rows of the innermost dimension are runs of consecutive global indices.
    stream const key = make_stream(seed, site_of(p.name), 0, 0);
    bool const inner_split = fact.split_dim == fact.shape.rank - 1;
    std::int64_t const inner = fact.shape[-1], local_inner = logical[-1];
    std::int64_t const rows = local_inner > 0 ? logical.count() / local_inner : 0;
    std::int64_t const offset = p.plan.offset(mp_index);
    std::int64_t const first =
        inner_split || fact.split_dim < 0 ? offset : offset * (fact.shape.count() / fact.shape[fact.split_dim]);
    at::Tensor const drawn = at::empty({rows, local_inner}, part.options());
    AT_DISPATCH_FLOATING_TYPES(drawn.scalar_type(), "initialise", [&] {
      for (std::int64_t r = 0; r < rows; ++r)
        fill_normal(drawn.data_ptr<scalar_t>() + r * local_inner, static_cast<std::uint64_t>(first + r * inner),
                    local_inner, key, 0.0, fact.start.deviation);
    });
    part.copy_(drawn.view(part.sizes()));
  }

  std::vector<stored_parameter> parameters_;
  std::unordered_map<std::string, std::size_t> index_;
  std::int64_t decayed_ = 0, trainable_ = 0, size_ = 0;
  at::Tensor values_, masters_, gradients_;
};

}  // namespace redco
