#pragma once

#include <redco/nn/detail/check_targets.hpp>
#include <redco/nn/leaves.hpp>
#include <redco/nn/parameter.hpp>

#include <redco/comm/group.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/layer/of.hpp>
#include <redco/fact/lora_options.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/diag/error.hpp>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redco {

/// What a module's constructor is handed: the config, its parameters by name, its random sites and cache slots. Modules
/// are built in the order in which their layers state facts, so sites are numbered alike on every mesh.
template <class Config>
class builder {
 public:
  builder(Config const& config, leaves& from, int rank, mesh const& on)
      : config_(config), leaves_(from), rank_(rank), mesh_(on) {}

  Config const& config() const { return config_; }
  template <auto Extent>
  auto extent() const {
    return of<Extent>(config_);
  }

  /// Of dropout. Errors: exit code 64 where it does not lie in [0, 1).
  template <auto Probability>
  double probability() const {
    return probability(static_cast<double>(extent<Probability>()));
  }
  double probability(double p) const {
    if (p >= 0 && p < 1) return p;
    throw error(exit_code::usage, "dropout is " + std::to_string(p) + ": give a probability from 0 on and below 1");
  }

  /// The number of ranks along these axes, and which of them this one is.
  int size(axes over) const { return mesh_.size(over); }
  int coordinate(axes over) const { return mesh_.coordinate(rank_, over); }

  /// The parameter `leaf` of this layer, or neighbours read as one matrix.
  redco::parameter parameter(std::string_view leaf) { return parameters({leaf}); }
  redco::parameter parameters(std::initializer_list<std::string_view> names) {
    return parameters(std::span(names.begin(), names.size()));
  }
  template <class Name>
  redco::parameter parameters(std::span<Name const> names) {
    std::vector<std::string> full;
    for (Name const& name : names) full.push_back(full_name(name));
    return leaves_.take(full);
  }
  redco::parameter tied(std::string_view full_name) const { return leaves_.tied(std::string(full_name)); }

  /// The store's entry of this layer's parameter `leaf`, and whether it has one.
  stored_parameter const& stored(std::string_view leaf) const { return leaves_.stored(full_name(leaf)); }
  bool has(std::string_view leaf) const { return leaves_.has(full_name(leaf)); }

  /// What a `low_rank_adapted` around the layer puts beside its weights; null where there is none.
  lora_options const* adapters() const { return adapters_; }
  /// The parameter `leaf`, half of the adapter beside this layer's `weight`.
  redco::parameter adapter(std::string_view weight, std::string_view leaf) {
    adapted_.push_back(weight.empty() ? here_ : full_name(weight));
    return parameter(leaf);
  }
  /// Runs `body` with adapters. Errors: exit code 64 where one of their targets is not there.
  template <class Body>
  auto adapting(lora_options const& options, Body&& body) {
    struct restore {
      builder& b;
      lora_options const* outer;
      ~restore() { b.adapters_ = outer; }
    } const back{*this, std::exchange(adapters_, &options)};
    auto made = body();
    detail::check_targets(options, adapted_);
    return made;
  }

  /// Gives the parameter `leaf` its first value, unless it has one already (its fact starts it as `own`).
  void start(std::string_view leaf, at::Tensor const& value) { leaves_.start(full_name(leaf), value); }

  /// The statistics under `leaf`: an entry that is not trained, updated alike on all ranks, and no leaf of autograd.
  stored_parameter const& statistics(std::string_view leaf) {
    statistics_.push_back(leaves_.stored(full_name(leaf)));
    return leaves_.stored(full_name(leaf));
  }
  std::vector<stored_parameter> const& all_statistics() const { return statistics_; }

  /// Keys what this layer draws while it is made.
  std::uint64_t seed() const { return leaves_.seed_of(here_); }

  /// All leaves taken so far.
  std::vector<at::Tensor> const& taken() const { return leaves_.taken(); }

  /// A new random site.
  std::uint32_t site() { return sites_++; }
  /// A new slot of the key-value cache.
  std::size_t cache_slot() { return cache_slots_++; }
  std::size_t cache_slots() const { return cache_slots_; }

  /// Runs `body` with `component` appended to the path of parameters.
  template <class Body>
  decltype(auto) inside(std::string_view component, Body&& body) {
    struct restore {
      std::string& here;
      std::string outer;
      ~restore() { here = std::move(outer); }
    } const back{here_, here_};
    here_ += (here_.empty() ? "" : ".") + std::string(component);
    return body();
  }

 private:
  std::string full_name(std::string_view leaf) const {
    return here_.empty() ? std::string(leaf) : here_ + "." + std::string(leaf);
  }

  Config const& config_;
  leaves& leaves_;
  int rank_;
  mesh mesh_;
  std::string here_;
  std::uint32_t sites_ = 0;
  std::size_t cache_slots_ = 0;
  std::vector<stored_parameter> statistics_;
  lora_options const* adapters_ = nullptr;
  std::vector<std::string> adapted_;  ///< paths of weights
};

}  // namespace redco
