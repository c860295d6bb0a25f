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

/// The flat gradient of one step, cut into buckets. Each bucket is summed over its region's axes as
/// soon as backward has completed all gradients in it. A bucket belongs to one region. All ranks
/// send buckets in the same order, one after the other: buckets whose first parameter is used last
/// in forward come first, because backward completes them first.
class gradient_buckets {
 public:
  /// Makes buckets of at most `bytes`, a multiple of 8. The network and the rank outlive the
  /// buckets. Only one set of buckets may use the rank's lanes at a time.
  gradient_buckets(network_base const& net, rank_context& rank, std::int64_t bytes);

  /// Marks a parameter's gradient as complete in this step, and sends the buckets that are now
  /// complete. Throws `error` with exit code 70 if called twice for one parameter.
  void end(parameter which);

  /// Sends all buckets that were not sent yet. Call it after all gradients are complete.
  void send_all();

  /// Returns after all sent buckets are summed. Throws the errors of the lanes (threads that run
  /// collectives).
  void wait() {
    for (comm::lane* const one : lanes_) one->wait();
  }

 private:
  struct bucket {
    at::Tensor part;   ///< slice of the flat gradient
    comm::lane* lane;  ///< lane that sums over the axes of the bucket's region
    /// Index of the bucket's first parameter.
    std::int32_t first = -1;
    /// Number of parameters in the bucket whose gradients are not complete.
    int awaited = 0;
  };
  /// Indices, in sending order, of the buckets that hold a parameter.
  using places = std::vector<std::size_t>;

  void send_next();

  /// Each lane that a bucket uses, once.
  std::vector<comm::lane*> lanes_;
  std::vector<bucket> order_;
  std::vector<places> of_parameter_;
  /// For each parameter, true after its gradient is complete.
  std::vector<bool> ended_;
  std::size_t sent_ = 0;
};

}  // namespace redco::run

#ifndef REDCO_COMPILED
#include <redco/run/gradient_buckets.inl.hpp>
#endif
