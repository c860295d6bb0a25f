#pragma once

#include <redco/tensor/saved_chain.hpp>
#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace redco {

/// A recorder of the tensors that autograd saves for backward on this thread. Each storage is
/// listed once, with the layers that save it, however many nodes do. The watch is a link of the
/// thread's saved_chain. A thread can have one watch at a time.
class saved_watch final : saved_link {
 public:
  /// A storage that autograd saves, with the layers that save it.
  struct entry {
    /// First saved tensor of the storage. Holding it prevents reuse of its address.
    at::Tensor tensor;
    std::vector<std::string> layers;  ///< paths of the layers that save the storage, each once
    std::string_view slot;            ///< slot name from the first of these layers, or empty

    std::int64_t bytes() const { return static_cast<std::int64_t>(tensor.storage().nbytes()); }
    bool lies_with(at::Tensor const& x) const { return tensor.storage().data() == x.storage().data(); }
  };

  /// A scope that attributes tensors saved on this thread to a layer. `component` is the layer's
  /// name in the enclosing layer. Costs nothing without a watch.
  class layer {
   public:
    explicit layer(std::string_view component);
    ~layer();
    layer(layer const&) = delete;
    layer& operator=(layer const&) = delete;

   private:
    saved_watch* watch_;
  };

  /// Path of a layer, one name per level. The names must outlive the path.
  using place = std::vector<std::string_view>;

  /// Returns the path of the current layer; empty without a watch.
  static place here();

  /// A scope that attributes tensors saved on this thread to the layer at path `other`. Used when a
  /// layer's deferred work runs later, inside another layer.
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

  /// Lists the storage of `x` as saved by the current layer.
  void add(at::Tensor const& x);
  /// Lists the storage of `x` as saved by the current layer, if this thread has a watch. Used for
  /// tensors that a layer passes to a loss, which will save them.
  static void expect(at::Tensor const& x);

  /// Declares that the current layer saves `x`, now or soon, as the slot named `slot`, a string
  /// literal. Costs nothing without a watch.
  static void name(std::string_view slot, at::Tensor const& x);

  /// Removes the storage of `x` from the list.
  void leave_out(at::Tensor const& x);

  /// Returns the saved storages in the order in which they were first saved.
  std::vector<entry> const& entries() const { return entries_; }
  /// Returns the total bytes of all listed storages.
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
  place here_;                          ///< path of the current layer
  std::vector<name_of_storage> names_;  ///< slot names declared for tensors not yet saved
  saved_chain::scope const in_chain_{*this, saved_chain::role::watches};
};

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/tensor/saved_watch.inl.hpp>
#endif
