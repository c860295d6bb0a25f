#pragma once

#include <redco/nn/leaves.hpp>
#include <redco/nn/parameter.hpp>
#include <redco/nn/side_products.hpp>

#include <redco/comm/group.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/layer/of.hpp>
#include <redco/shape/block_range.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/diag/error.hpp>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redco {

/// What a module's constructor is handed, whatever the model's config: its parameters by name, its
/// random sites and cache slots. Modules are built in the order in which their layers state facts,
/// so sites are numbered alike on every mesh. On a rank that runs a range of blocks, modules of
/// other blocks are built with handles to no parameter, and sites and slots stay those of the
/// model.
class builder_base {
 public:
  builder_base(leaves& from, int rank, mesh const& on, block_range const& blocks = {})
      : leaves_(from), rank_(rank), mesh_(on), blocks_(blocks) {}

  /// Checks the probability of a dropout. Errors: exit code 64 where it does not lie in [0, 1).
  static double probability(double p) {
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
    for (Name const& name : names) full.push_back(path_of(name));
    return absent_ ? redco::parameter() : leaves_.take(full);
  }
  redco::parameter tied(std::string_view full_name) const { return leaves_.tied(std::string(full_name)); }

  /// The store's entry of this layer's parameter `leaf`, and whether it has one.
  stored_parameter const& stored(std::string_view leaf) const { return leaves_.stored(path_of(leaf)); }
  bool has(std::string_view leaf) const { return leaves_.has(path_of(leaf)); }

  /// Makes what an outer layer computes beside the products of this layer's weights; `whole` is the
  /// name of all weights as one. Nothing where no outer layer does.
  detail::side_products side_products(std::initializer_list<std::string_view> weights, std::string_view whole = {}) {
    if (maker_ == nullptr) return {};
    auto made = maker_->make(*this, {weights.begin(), weights.size()}, whole);
    if (made && !absent_) sources_.push_back(made);
    return detail::side_products(std::move(made));
  }
  /// Runs `body`, in which layers have the side products of `maker`.
  template <class Body>
  auto with_side_products(detail::side_maker& maker, Body&& body) {
    struct restore {
      builder_base& b;
      detail::side_maker* outer;
      ~restore() { b.maker_ = outer; }
    } const back{*this, std::exchange(maker_, &maker)};
    return body();
  }
  std::vector<std::shared_ptr<detail::side_source const>> const& all_side_products() const { return sources_; }

  /// The path of this layer's `leaf`, or of the layer.
  std::string path_of(std::string_view leaf) const {
    return leaf.empty() ? here_ : here_.empty() ? std::string(leaf) : here_ + "." + std::string(leaf);
  }

  /// Gives the parameter `leaf` its first value, unless it has one already (its fact starts it as `own`).
  void start(std::string_view leaf, at::Tensor const& value) { leaves_.start(path_of(leaf), value); }

  /// Returns true for a module of a block that another rank runs, which takes no parameters here.
  bool absent() const { return absent_; }

  /// The statistics under `leaf`: an entry that is not trained, updated alike on all ranks, and no leaf of autograd.
  stored_parameter const& statistics(std::string_view leaf) {
    if (!absent_) statistics_.push_back(leaves_.stored(path_of(leaf)));
    return leaves_.stored(path_of(leaf));
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

  /// Runs `body`, which makes the next block of a row. Returns true if this rank runs the block. A
  /// row within a block belongs to the block.
  template <class Body>
  bool block(Body&& body) {
    struct restore {
      builder_base& b;
      bool in_block, absent;
      ~restore() { b.in_block_ = in_block, b.absent_ = absent; }
    } const back{*this, std::exchange(in_block_, true), absent_};
    bool const runs = back.in_block || blocks_.has(made_blocks_++);
    absent_ = absent_ || !runs;
    body();
    return runs;
  }

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
  leaves& leaves_;
  int rank_;
  mesh mesh_;
  block_range blocks_;
  std::int64_t made_blocks_ = 0;  ///< of outermost rows
  bool in_block_ = false, absent_ = false;
  std::string here_;
  std::uint32_t sites_ = 0;
  std::size_t cache_slots_ = 0;
  std::vector<stored_parameter> statistics_;
  detail::side_maker* maker_ = nullptr;
  std::vector<std::shared_ptr<detail::side_source const>> sources_;
};

/// The same with the config of the model.
template <class Config>
class builder : public builder_base {
 public:
  builder(Config const& config, leaves& from, int rank, mesh const& on, block_range const& blocks = {})
      : builder_base(from, rank, on, blocks), config_(config) {}

  Config const& config() const { return config_; }
  template <auto Extent>
  auto extent() const {
    return of<Extent>(config_);
  }

  using builder_base::probability;
  template <auto Probability>
  double probability() const {
    return probability(static_cast<double>(extent<Probability>()));
  }

 private:
  Config const& config_;
};

}  // namespace redco
