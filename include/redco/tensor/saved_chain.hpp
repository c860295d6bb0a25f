#pragma once

#include <redco/tensor/torch.hpp>

#include <functional>

namespace redco {

/// A link in the chain of hooks for tensors that autograd saves for backward. A link either
/// inspects each tensor or moves its bytes to other memory (a tier) until backward.
class saved_link {
 public:
  /// A tensor in the form in which a link passes it on, and the function that restores the
  /// original.
  struct packed {
    at::Tensor x;
    std::function<at::Tensor(at::Tensor const&)> unpack =
        /// Returns the saved tensor for the packed tensor `x`. Empty if `x` is the saved tensor
        /// itself.
        {};
  };

  /// Packs a tensor that autograd saves on the link's thread. Autograd keeps `unpack` until it
  /// frees the graph, and calls it during backward on any thread. `unpack` must own all that it
  /// needs, because it may be called after the link has left the chain.
  virtual packed pack(at::Tensor const& x) = 0;

 protected:
  saved_link() = default;
  ~saved_link() = default;
};

/// A chain of links for the tensors that autograd saves on one thread. Saved tensors pass the links
/// first to last, and last to first in backward. Links that watch come before links that move
/// bytes, so that they see the layers' own tensors.
///
///   file_tier tier(path);                                          // a saved_link
///   saved_chain::scope const here(tier, saved_chain::role::moves);  // then run forward
class saved_chain {
 public:
  enum class role : unsigned char {
    watches,  ///< passes on each tensor unchanged
    moves     ///< passes on another tensor
  };

  /// A scope that adds a link to this thread's chain. Scopes may end in any order. The first scope
  /// of a process replaces libtorch's autograd engine by one that asks the chain for hooks;
  /// backward itself does not change.
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

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/tensor/saved_chain.inl.hpp>
#endif
