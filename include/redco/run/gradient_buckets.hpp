#pragma once

#include <redco/nn/network_base.hpp>
#include <redco/nn/parameter.hpp>
#include <redco/comm/lane.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/tensor/torch.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco::run {

/// The flat gradient of one step in buckets. Each is summed over the axes of its region as soon as
/// backward has ended all of its gradients.
///
/// No bucket crosses the end of a region. All ranks send buckets in one order, and a bucket waits
/// for those before it: first come buckets whose first parameter is used last in forward, because
/// backward ends their gradients first.
class gradient_buckets {
 public:
  /// Buckets of at most `bytes`, a multiple of 8. The network and the rank outlive them; one set of
  /// buckets uses the rank's lanes at a time.
  gradient_buckets(network_base const& net, rank_context& rank, std::int64_t bytes);

  /// Backward has added all of the step to this parameter's gradient. Errors: exit code 70 for the second end of one.
  void end(parameter which);

  /// All gradients have ended.
  void send_all();

  /// Returns when all sent buckets are summed. Errors: those of the lanes.
  void wait() {
    for (comm::lane* const one : lanes_) one->wait();
  }

 private:
  struct bucket {
    at::Tensor part;          ///< of the flat gradient
    comm::lane* lane;         ///< over the axes of its region
    std::int32_t first = -1;  ///< place of the first parameter in it
    int awaited = 0;          ///< parameters in it whose gradients have not ended
  };
  /// The buckets in which a parameter lies, by their place in the order.
  using places = std::vector<std::size_t>;

  void send_next();

  std::vector<comm::lane*> lanes_;  ///< each that some bucket uses, once
  std::vector<bucket> order_;
  std::vector<places> of_parameter_;
  std::vector<bool> ended_;  ///< of each parameter
  std::size_t sent_ = 0;
};

}  // namespace redco::run

#ifndef REDCO_COMPILED
#include <redco/run/gradient_buckets.inl.hpp>
#endif
