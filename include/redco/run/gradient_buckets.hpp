#pragma once

#include <redco/nn/network_base.hpp>
#include <redco/nn/parameter.hpp>
#include <redco/comm/lane.hpp>
#include <redco/tensor/torch.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco::run {

/// The flat gradient of one step in buckets, each summed over the replicas as soon as backward has ended all of its gradients.
///
/// Parameters with weight decay and those without are cut apart, as they lie. Buckets are sent in one order on all ranks, and wait for
/// those before them: first those of whose parameters the layers take the first one last, as backward ends their gradients first.
class gradient_buckets {
 public:
  /// Of at most `bytes`, a multiple of 8. The network and the lane outlive it; one set of buckets uses the lane at a time.
  gradient_buckets(network_base const& net, comm::lane& lane, std::int64_t bytes);

  /// Backward has added all of the step to this parameter's gradient. Errors: exit code 70 for the second end of one.
  void end(parameter which);

  /// All gradients have ended.
  void send_all();

  /// Returns when all that was sent is summed. Errors: those of the lane.
  void wait() { lane_.wait(); }

 private:
  struct bucket {
    at::Tensor part;          ///< of the flat gradient
    std::int32_t first = -1;  ///< place of the first parameter in it
    int awaited = 0;          ///< parameters in it whose gradients have not ended
  };
  /// The buckets in which a parameter lies, by their place in the order.
  using places = std::vector<std::size_t>;

  void send_next();

  comm::lane& lane_;
  std::vector<bucket> order_;
  std::vector<places> of_parameter_;
  std::vector<bool> ended_;  ///< of each parameter
  std::size_t sent_ = 0;
};

}  // namespace redco::run

#ifndef REDCO_COMPILED
#include <redco/run/gradient_buckets.inl.hpp>
#endif
