#pragma once

#include <redco/tensor/saved_chain.hpp>
#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace redco {

/// Sees what autograd saves for backward on this thread while the watch lives: each storage once,
/// however many nodes save it, and the layers that do. The watch is a link of the thread's
/// saved_chain. One watch per thread at a time.
class saved_watch final : saved_link {
 public:
  /// A storage that is saved.
  struct entry {
    at::Tensor tensor;                ///< as it was saved first; holding it keeps its address from being used again
    std::vector<std::string> layers;  ///< whose functions save it, each once: their paths
    std::string_view slot;            ///< as what the first of them does, if it said so

    std::int64_t bytes() const { return static_cast<std::int64_t>(tensor.storage().nbytes()); }
    bool lies_with(at::Tensor const& x) const { return tensor.storage().data() == x.storage().data(); }
  };

  /// While it lives, what autograd saves on this thread belongs to a layer, named `component` in the one around it. Costs
  /// nothing without a watch.
  class layer {
   public:
    explicit layer(std::string_view component);
    ~layer();
    layer(layer const&) = delete;
    layer& operator=(layer const&) = delete;

   private:
    saved_watch* watch_;
  };

  /// The path of a layer, whose names outlive it.
  using place = std::vector<std::string_view>;

  /// That of the current layer; empty without a watch.
  static place here();

  /// While it lives, what autograd saves on this thread belongs to the layer at `other`: work that was left for later.
  class elsewhere {
   public:
    explicit elsewhere(place other);
    ~elsewhere();
    elsewhere(elsewhere const&) = delete;
    elsewhere& operator=(elsewhere const&) = delete;

   private:
    saved_watch* watch_;
    place back_;
  };

  saved_watch();
  ~saved_watch();
  saved_watch(saved_watch const&) = delete;
  saved_watch& operator=(saved_watch const&) = delete;

  /// Counts the storage of `x` too, as saved by the current layer.
  void add(at::Tensor const& x);
  /// The same for the watch of this thread, if there is one: what a layer hands to a loss, which will save it.
  static void expect(at::Tensor const& x);

  /// Says that the current layer saves `x`, or is about to, as the slot of this name, a literal. Costs nothing without a watch.
  static void name(std::string_view slot, at::Tensor const& x);

  /// Leaves the storage of `x` out.
  void leave_out(at::Tensor const& x);

  /// In the order in which they were saved first.
  std::vector<entry> const& entries() const { return entries_; }
  /// Of all of them.
  std::int64_t bytes() const;

 private:
  struct name_of_storage {
    void const* data;
    std::string_view slot;
  };

  packed pack(at::Tensor const& x) override;

  std::string path() const;
  std::vector<entry>::iterator find(at::Tensor const& x);

  std::vector<entry> entries_;
  place here_;                          ///< the path of the current layer
  std::vector<name_of_storage> names_;  ///< that it gave to what is not saved yet
  saved_chain::scope const in_chain_{*this, saved_chain::role::watches};
};

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/tensor/saved_watch.inl.hpp>
#endif
