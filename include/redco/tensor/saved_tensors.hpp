#pragma once

#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace redco::tensors {

/// A hook in a chain of hooks for tensors that autograd saves for backward. Each hook either
/// inspects a saved tensor, or moves its bytes to other memory (a tier such as a file) until
/// backward.
class saved_link {
 public:
  /// The result of a hook for a saved tensor: the tensor `x` that is saved instead, and the
  /// function that restores the original.
  struct packed {
    at::Tensor x;
    /// Function that returns the original tensor, given the tensor `x`. Empty if `x` is the
    /// original tensor.
    std::function<at::Tensor(at::Tensor const&)> unpack = {};
  };

  /// Called when autograd saves a tensor on the thread of this hook; returns the tensor to save
  /// instead. The function `unpack` in the result is kept until the autograd graph is freed, and
  /// called during backward on any thread. It must own all that it needs, because this hook may be
  /// gone by then.
  virtual packed pack(at::Tensor const& x) = 0;

 protected:
  saved_link() = default;
  ~saved_link() = default;
};

/// A chain of hooks for the tensors that autograd saves on one thread. A saved tensor passes the
/// hooks from first to last, and in backward from last to first. Hooks that watch come before hooks
/// that move bytes, so that they see the layers' own tensors.
///
///   file_tier tier(path);                                          // a saved_link
///   saved_chain::scope const here(tier, saved_chain::role::moves);  // then run forward
class saved_chain {
 public:
  enum class role : unsigned char {
    watches,  ///< role of a hook that leaves each saved tensor unchanged
    moves     ///< role of a hook that replaces saved tensors
  };

  /// A scope that adds a hook (saved_link) to this thread's chain. Scopes may end in any order. The
  /// first scope of a process replaces libtorch's autograd engine by one that asks the chain for
  /// hooks; backward itself does not change.
  class scope {
   public:
    scope(saved_link& link, role as);
    ~scope();
    scope(scope const&) = delete;
    scope& operator=(scope const&) = delete;

   private:
    saved_link* link_;
  };
};

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
    bool shares_storage(at::Tensor const& x) const { return tensor.storage().data() == x.storage().data(); }
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
  using layer_path = std::vector<std::string_view>;

  /// Returns the path of the layer that this thread computes now. Returns an empty path if the
  /// thread has no saved_watch.
  static layer_path here();

  /// A scope during which tensors saved on this thread are attributed to the layer at path `other`.
  /// Used when a layer's deferred work runs later, inside another layer.
  class elsewhere {
   public:
    explicit elsewhere(layer_path other);
    ~elsewhere() {
      if (watch_ != nullptr) watch_->here_.swap(back_);
    }
    elsewhere(elsewhere const&) = delete;
    elsewhere& operator=(elsewhere const&) = delete;

   private:
    saved_watch* watch_;
    layer_path back_;
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
  layer_path here_;  ///< path of the layer that the thread computes now
  /// Names declared by name() for storages that autograd had not saved then. Cleared when a layer
  /// ends.
  std::vector<name_of_storage> names_;
  saved_chain::scope const in_chain_{*this, saved_chain::role::watches};
};

/// Returns `x` and declares its name for the check of saved tensors (--check-saved): autograd saves
/// `x` for backward as the slot `slot` that the layer type declares. `slot` must be a string
/// literal. A kernel names the tensors that it creates for backward; the layer names the kernel's
/// input.
inline at::Tensor const& save_as(std::string_view slot, at::Tensor const& x) {
  saved_watch::name(slot, x);
  return x;
}

}  // namespace redco::tensors

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/tensor/saved_tensors.inl.hpp>
#endif
