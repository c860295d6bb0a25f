#pragma once

#include <redco/nn/load_balance.hpp>
#include <redco/nn/parameter.hpp>
#include <redco/nn/parameter_store.hpp>
#include <redco/nn/side_products.hpp>

#include <redco/comm/group.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/layer/extent_of.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/shape/stage_cuts.hpp>
#include <redco/diag/error.hpp>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::nn {

/// A builder that the constructor of each module receives. It gives handles to parameters by name,
/// numbers for random streams (sites) and cache slots. Modules are built in the order in which the
/// plan lists their layers, so these numbers are equal on every mesh. A pipeline stage builds all
/// modules: modules of other stages' blocks get empty parameter handles.
class builder_base {
 public:
  builder_base(leaves& from, int rank, mesh const& on, shape::stage_blocks const& blocks = {})
      : leaves_(from), rank_(rank), mesh_(on), blocks_(blocks) {}

  /// Returns the dropout probability `p`. Throws `error` with exit code 64 if `p` is not in [0, 1).
  static double probability(double p) {
    if (p >= 0 && p < 1) return p;
    throw error(exit_code::usage, "dropout is " + std::to_string(p) + ": give a probability from 0 on and below 1");
  }

  /// `size` returns the number of ranks along the mesh axes `over`. `coordinate` returns the index
  /// of this rank among them.
  int size(shape::axes over) const { return mesh_.size(over); }
  int coordinate(shape::axes over) const { return mesh_.coordinate(rank_, over); }

  /// `parameter` returns a handle to the parameter named `leaf` of the layer that is being built.
  /// `parameters` returns one handle to several parameters that are adjacent in memory, joined into
  /// one matrix. Handles are empty if only other pipeline stages hold the parameters.
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
  /// Returns the handle of a parameter that another layer owns, by the parameter's full name.
  redco::parameter tied(std::string_view full_name) const { return leaves_.tied(std::string(full_name)); }

  /// `stored` returns the entry of the parameter `leaf` of the current layer in the parameter
  /// store. `has` returns true if the store has such an entry. `stored` throws `error` with exit
  /// code 70 if it has none.
  stored_parameter const& stored(std::string_view leaf) const { return leaves_.stored(path_of(leaf)); }
  bool has(std::string_view leaf) const { return leaves_.has(path_of(leaf)); }
  /// Returns true if the plan has the parameter `leaf` of the current layer, on any pipeline stage.
  bool is_planned(std::string_view leaf) const { return has(leaf) || leaves_.is_elsewhere(path_of(leaf)); }

  /// Returns the side products of the current layer: products that an outer layer, such as a
  /// low-rank adapter, adds to the products with these `weights`. `whole` is the name of all
  /// weights read as one matrix. The result is empty if no outer layer adds products.
  detail::side_products side_products(std::initializer_list<std::string_view> weights, std::string_view whole = {}) {
    if (maker_ == nullptr) return {};
    auto made = maker_->make(*this, {weights.begin(), weights.size()}, whole);
    if (made) sources_.push_back(made);
    return detail::side_products(std::move(made));
  }
  /// Runs `body` and returns its result. Layers that are built inside `body` get their side
  /// products (such as low-rank adapters) from `maker`.
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

  /// Returns the dotted path of the current layer's parameter `leaf`, or the layer's own path if
  /// `leaf` is empty.
  std::string path_of(std::string_view leaf) const {
    return leaf.empty() ? here_ : here_.empty() ? std::string(leaf) : here_ + "." + std::string(leaf);
  }

  /// Sets the first value of the current layer's parameter `leaf`, which is the tensor of a user's
  /// module. Does nothing if the parameter has a value already (from a checkpoint), or if the layer
  /// declares another initialisation.
  void start(std::string_view leaf, at::Tensor const& value) { leaves_.start(path_of(leaf), value); }

  /// Returns true if only other pipeline stages hold the current layer's parameter `leaf`.
  bool is_elsewhere(std::string_view leaf) const { return absent_ || leaves_.is_elsewhere(path_of(leaf)); }

  /// Returns the store's entry of the current layer's tensor `leaf`, a running statistic. A
  /// statistic is not trained and not seen by autograd. Registers the entry so that it is kept
  /// equal on all replicas. The entry is empty if only other pipeline stages hold it.
  stored_parameter const& statistics(std::string_view leaf) {
    static stored_parameter const none;
    if (is_elsewhere(leaf)) return none;
    statistics_.push_back(leaves_.stored(path_of(leaf)));
    return leaves_.stored(path_of(leaf));
  }
  std::vector<stored_parameter> const& all_statistics() const { return statistics_; }

  /// Registers a router whose biases balance the loads of its experts (see update_biases()).
  /// `leaf`: name of the biases, [experts]; `rate`: their change per step. Returns the balance. Its
  /// biases are undefined if only other pipeline stages hold them.
  load_balance balance(std::string_view leaf, double rate) {
    if (is_elsewhere(leaf)) return {};
    stored_parameter const& bias = leaves_.stored(path_of(leaf));
    balances_.push_back({bias, at::zeros_like(bias.value, at::kDouble), rate});
    return balances_.back();
  }
  std::vector<load_balance> const& all_balances() const { return balances_; }

  /// Returns the seed of the random numbers that the current layer draws while it is constructed.
  /// The seed depends on the run's seed and the layer's path.
  std::uint64_t seed() const { return leaves_.seed_of(here_); }

  /// Returns the autograd leaves of all parameters that modules have requested so far, in the order
  /// of the requests.
  std::vector<at::Tensor> const& taken() const { return leaves_.taken(); }

  /// Returns a new number (a site) that identifies one layer's stream of random numbers, such as
  /// the draws of a dropout.
  std::uint32_t site() { return sites_++; }
  /// Returns the index of a new slot of the key-value cache, for one attention layer or another
  /// layer that caches a tensor.
  std::size_t cache_slot() { return cache_slots_++; }
  std::size_t cache_slots() const { return cache_slots_; }
  /// Declares that keys which a layer caches for sequences of up to `length` positions are wrong
  /// for longer sequences, so that decoding computes them again.
  void limit_cache(std::int64_t length) { cache_limit_ = length; }
  /// Returns the length of the last call of limit_cache(), or 0 without a call.
  std::int64_t cache_limit() const { return cache_limit_; }

  /// Declares that a layer's result depends on the number of tokens of a text if it has more than
  /// `length` tokens.
  void depend_on_length(std::int64_t length) {
    text_limit_ = text_limit_ == 0 ? length : std::min(text_limit_, length);
  }
  /// Returns the smallest argument of depend_on_length(), or 0 without a call.
  std::int64_t text_limit() const { return text_limit_; }

  /// Declares the number of token ids of the language head, for pipeline stages that do not run it.
  void set_vocabulary(std::int64_t tokens) { vocabulary_ = tokens; }
  /// Returns the argument of set_vocabulary(), or 0 without a call.
  std::int64_t vocabulary() const { return vocabulary_; }

  /// Calls `body`, which builds the next block of a `repeat`. Returns true if this rank runs the
  /// block. A block of a nested `repeat` runs on the rank that runs the enclosing block.
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

  /// Returns the number of blocks of outermost `repeat`s that were built so far.
  std::int64_t blocks_before() const { return made_blocks_; }

  /// Returns the index of the block of an outermost `repeat` that is being built, counted over all
  /// outermost `repeat`s, or -1 outside of blocks.
  std::int64_t block_index() const { return in_block_ ? made_blocks_ - 1 : -1; }

  /// Calls `body` while `component` is appended to the path of the current layer, and returns the
  /// result of `body`.
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
  shape::stage_blocks blocks_;
  /// Number of blocks of outermost `repeat`s that were built so far
  std::int64_t made_blocks_ = 0;
  bool in_block_ = false, absent_ = false;
  std::string here_;
  std::uint32_t sites_ = 0;
  std::size_t cache_slots_ = 0;
  std::int64_t cache_limit_ = 0, text_limit_ = 0, vocabulary_ = 0;
  std::vector<stored_parameter> statistics_;
  std::vector<load_balance> balances_;
  detail::side_maker* maker_ = nullptr;
  std::vector<std::shared_ptr<detail::side_source const>> sources_;
};

/// A builder that also holds the model's config, from which it computes extents and dropout
/// probabilities of layers.
template <class Config>
class builder : public builder_base {
 public:
  builder(Config const& config, leaves& from, int rank, mesh const& on, shape::stage_blocks const& blocks = {})
      : builder_base(from, rank, on, blocks), config_(config) {}

  Config const& config() const { return config_; }
  template <auto Extent>
  auto extent() const {
    return layers::extent_of<Extent>(config_);
  }

  using builder_base::probability;
  template <auto Probability>
  double probability() const {
    return probability(static_cast<double>(extent<Probability>()));
  }

 private:
  Config const& config_;
};

}  // namespace redco::nn
