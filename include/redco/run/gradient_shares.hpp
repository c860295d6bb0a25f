#pragma once

#include <redco/run/started_collective.hpp>
#include <redco/nn/network_base.hpp>
#include <redco/nn/parameter.hpp>
#include <redco/comm/group.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/shard/shares.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco::run {

/// Returns the group of ranks that share out the state of `store` among each other.
comm::group& sharing_ranks(nn::parameter_store const& store, rank_context& rank);

/// The sums of gradients in the backwards of one step, if each replica keeps only a share of the
/// gradients. Each shared range of the flat buffers is a bucket. A bucket gets memory with its
/// first gradient. The replicas sum it as soon as backward has completed all gradients in it. Each
/// rank adds its share of the sum to the store's gradients and frees the bucket's memory.
///
/// All ranks sum the buckets in the same order: parameters used last in forward come first, because
/// backward completes them first. Therefore a few buckets are in memory at any time. If messages
/// overlap with computation, a sum runs while backward fills the next bucket.
class gradient_shares {
 public:
  /// The network and the rank must outlive the object.
  gradient_shares(nn::network_base const& net, rank_context& rank);

  /// Moves the complete gradient of a parameter from its leaf into the buckets. Sums all buckets
  /// that this completes. Throws `error` with exit code 70 if called twice for one parameter in a
  /// round.
  void end(parameter which);

  /// Sums all buckets of blocks after `block`, whose backward begins. From then on, end() may sum
  /// those of `block`. Needed if the ranks gather the values of each block between sums.
  void begin_backward(std::int64_t block);

  /// Ends a round (one micro-batch per replica): sums the remaining buckets, whose missing
  /// gradients are zero. Call it after backward; a rank without a micro-batch in the round calls it
  /// alone.
  void end_round();

  /// Announces a backward of this rank that the operations of the step do not list, such as that of
  /// a loss by hand. Other ranks then take part in its sums by their own backward or by join().
  void announce();
  /// Takes part in the rounds of other ranks that call announce(). Returns when no rank has one
  /// left. All ranks call it after their last backward.
  void join();

  /// Waits until all sums are complete.
  void wait();

 private:
  struct bucket {
    shard::shared_range range;
    std::int64_t block = -1;                ///< -1 outside blocks, and if the rank has all values
    std::int64_t packed = 0, elements = 0;  ///< this rank's share in the store's gradients
    int parameters = 0;
    /// Number of parameters in the bucket whose gradients backward has not completed yet
    int awaited = 0;
    at::Tensor gradients;  ///< undefined before the first gradient and after the sum
  };

  void sum_next();
  std::size_t before(std::int64_t block) const;
  static at::Tensor const& memory_of(bucket& one, at::Tensor const& like);

  nn::network_base const& net_;
  rank_context& rank_;
  started_collective last_;  ///< the latest sum
  std::vector<bucket> order_;
  /// Entries by parameter: indices of its buckets in the order of the sums
  std::vector<std::vector<std::size_t>> of_parameter_;
  /// Entries by parameter: true after backward has completed the parameter's gradient
  std::vector<bool> ended_;
  std::size_t summed_ = 0;
  /// Number of buckets, in the order of the sums, that end() may sum
  std::size_t allowed_ = 0;
  std::int64_t blocks_ = 0;
};

}  // namespace redco::run

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/run/gradient_shares.inl.hpp>
#endif
