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

/// The flat gradient buffer of one step, cut into buckets that are summed over ranks during
/// backward. A bucket is sent as soon as backward has completed all gradients in it. All parameters
/// of a bucket are summed over the same mesh axes. All ranks send the buckets in the same order:
/// parameters used last in forward come first, because backward completes them first.
///
/// If the replicas keep shares, each shared range is a bucket, and a rank gets the sums of its
/// share only.
class gradient_buckets {
 public:
  /// Cuts the gradient buffer of `net` into buckets of at most `bytes`, a multiple of 8. Ignores
  /// `bytes` if the replicas keep shares. The network and the rank must outlive the buckets. Only
  /// one `gradient_buckets` object may use the rank's lanes (threads that run collectives) at a
  /// time.
  gradient_buckets(nn::network_base const& net, rank_context& rank, std::int64_t bytes);

  /// Marks a parameter's gradient as complete in this step, and sends all buckets that this
  /// completes. Throws `error` with exit code 70 if called twice for one parameter.
  void end(parameter which);

  /// Sends all buckets that were not sent yet. Call it after backward has completed all gradients.
  void send_all() {
    while (sent_ < order_.size()) send_next();
  }

  /// Waits until all sent buckets are summed. Rethrows errors of the lanes (threads that run
  /// collectives).
  void wait() {
    for (comm::lane* const one : lanes_) one->wait();
  }

 private:
  struct bucket {
    at::Tensor part;   ///< slice of the flat gradient buffer
    comm::lane* lane;  ///< thread that sums the bucket over its mesh axes
    bool is_shared;    ///< true if the rank gets the sums of its share only
    /// Number of parameters in the bucket whose gradients backward has not completed yet.
    int awaited = 0;
  };
  void send_next();

  /// Lanes (threads that run collectives) that the buckets use, each one once.
  std::vector<comm::lane*> lanes_;
  std::vector<bucket> order_;
  /// Entries by parameter: indices of its buckets in the order of sending
  std::vector<std::vector<std::size_t>> of_parameter_;
  /// Entries by parameter: true after backward has completed the parameter's gradient.
  std::vector<bool> ended_;
  std::size_t sent_ = 0;
};

}  // namespace redco::run

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/run/gradient_buckets.inl.hpp>
#endif
