#pragma once

#include <redco/tensor/torch.hpp>

#include <functional>

namespace redco {

/// A step on the way of tensors that autograd saves for backward: a check that looks at each, or a
/// tier that keeps their bytes in another memory until backward.
class saved_link {
 public:
  /// What a link hands on in place of a saved tensor.
  struct packed {
    at::Tensor x;
    std::function<at::Tensor(at::Tensor const&)> unpack =
        {};  ///< gives the saved tensor for the packed one; empty: they are one tensor
  };

  /// Takes a tensor that autograd saves on the link's thread. Autograd keeps `unpack` until it
  /// frees the graph, and calls it in backward, on any thread and also after the link has left the
  /// chain: the function owns what it needs.
  virtual packed pack(at::Tensor const& x) = 0;

 protected:
  saved_link() = default;
  ~saved_link() = default;
};

/// The links of a thread. Each tensor that autograd saves passes all of them, first to last, and
/// returns last to first. Links that only watch come before those that move bytes, whichever joined
/// first, so that they see the tensors that layers saved.
///
///   file_tier tier(path);                                          // a saved_link
///   saved_chain::scope const here(tier, saved_chain::role::moves);  // then forward: what is saved lies in the file
///
/// The first scope of a process replaces libtorch's engine by one that asks for the chain; backward
/// itself does not change.
class saved_chain {
 public:
  enum class role : unsigned char {
    watches,  ///< hands on each tensor as it is
    moves     ///< hands on another tensor
  };

  /// Makes a link part of this thread's chain while the scope lives. Scopes end in any order.
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
