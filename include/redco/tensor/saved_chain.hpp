#pragma once

#include <redco/tensor/torch.hpp>

#include <functional>

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

}  // namespace redco::tensors

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/tensor/saved_chain.inl.hpp>
#endif
