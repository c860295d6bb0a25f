#pragma once

#include <redco/tensor/saved_chain.hpp>
#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace redco::tensors {

/// A recorder of the tensors that autograd saves for backward on this thread. Each storage is
/// listed once, with the layers that save it, even if several nodes do. The recorder is a hook
/// (saved_link) in the thread's saved_chain. A thread can have one recorder at a time.
class saved_watch final : saved_link {
 public:
  /// A storage that autograd saves, with the layers that save it.
  struct entry {
    /// First saved tensor that uses the storage. Holding the tensor prevents reuse of its address.
    at::Tensor tensor;
    /// Paths of the layers that save the storage, without repetition.
    std::vector<std::string> layers;
    /// Name that the first of these layers declared for the saved tensor; empty if none.
    std::string_view slot;

    std::int64_t bytes() const { return static_cast<std::int64_t>(tensor.storage().nbytes()); }
    bool lies_with(at::Tensor const& x) const { return tensor.storage().data() == x.storage().data(); }
  };

  /// A scope during which tensors saved on this thread are attributed to a layer. `component` is
  /// the layer's name in the enclosing layer. Costs nothing if the thread has no saved_watch.
  class layer {
   public:
    explicit layer(std::string_view component);
    ~layer();
    layer(layer const&) = delete;
    layer& operator=(layer const&) = delete;

   private:
    saved_watch* watch_;
  };

  /// Path of a layer in the model, one name per level of nesting. The strings must outlive the
  /// path.
  using place = std::vector<std::string_view>;

  /// Returns the path of the layer that this thread computes now. Returns an empty path if the
  /// thread has no saved_watch.
  static place here();

  /// A scope during which tensors saved on this thread are attributed to the layer at path `other`.
  /// Used when a layer's deferred work runs later, inside another layer.
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

  /// Adds the storage of `x` to the list of saved storages, as saved by the current layer.
  void add(at::Tensor const& x);
  /// Adds the storage of `x` to this thread's list of saved storages, as saved by the current
  /// layer. Does nothing without a saved_watch. Used for a tensor that a layer passes to a loss,
  /// which will save it.
  static void expect(at::Tensor const& x);

  /// Declares that the current layer saves `x`, now or soon, under the name `slot` (a string
  /// literal) of the layer type's declaration. Costs nothing if the thread has no saved_watch.
  static void name(std::string_view slot, at::Tensor const& x);

  /// Removes the storage of `x` from the list of saved storages.
  void leave_out(at::Tensor const& x);

  /// Returns the saved storages in the order in which they were first saved.
  std::vector<entry> const& entries() const { return entries_; }
  /// Returns the total bytes of all saved storages in the list.
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
  place here_;  ///< path of the layer that the thread computes now
  /// Names declared by name() for storages that autograd had not saved then. Cleared when a layer
  /// ends.
  std::vector<name_of_storage> names_;
  saved_chain::scope const in_chain_{*this, saved_chain::role::watches};
};

}  // namespace redco::tensors

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/tensor/saved_watch.inl.hpp>
#endif
