#pragma once

#include <redco/run/gradient_shares.hpp>
#include <redco/run/started_collective.hpp>
#include <redco/nn/parameter_store.hpp>
#include <redco/nn/value_source.hpp>
#include <redco/comm/rank_context.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco::run {

/// Gathers all values of a store of which each replica keeps only a share, and those of the same
/// buffers on other ranks. All ranks must call it together. `drop_values` frees them. Both do
/// nothing for other stores.
void gather_all(nn::parameter_store const& store, rank_context& rank);
void drop_all(nn::parameter_store const& store);

/// The values of parameters during a step, if each replica keeps only a share of them (ZeRO level
/// 3). Gathers the values of a block before forward and before backward of the block, and drops
/// them after it. Layers outside blocks have their values during the whole step. If messages
/// overlap with computation, the gather of the next block runs while a block is computed.
///
/// All ranks gather the blocks and sum their gradients in one order, which follows from the model
/// alone: in each round (one micro-batch per replica), forward of the blocks, then backward. A rank
/// whose loss skips a layer, or which has no micro-batch in the round, takes part in that order.
class gathered_values final : public nn::value_source {
 public:
  /// `sums`: the step's sums of gradients. `rounds`: number of rounds of the step. `kept`: number
  /// of blocks, from the first on, whose values stay in memory between forward and backward and
  /// over the rounds. The arguments must outlive the object.
  gathered_values(nn::parameter_store const& store, rank_context& rank, gradient_shares& sums, std::int64_t rounds,
                  std::int64_t kept = 0);
  ~gathered_values() override;

  /// Throws `error` with exit code 64 for the second call of the network in a round.
  void begin_call() override;
  void enter(std::int64_t block) override { advance(1 + block + 1); }
  void enter_backward(std::int64_t block) override { advance(1 + blocks_ + (blocks_ - block)); }

  /// Ends a round: gathers and sums what this rank has not reached. In the last round, drops all
  /// values.
  void end_round();

 private:
  void advance(std::int64_t place);
  void begin_gather(std::int64_t block);
  void end_gather(std::int64_t block);
  void drop(std::int64_t first, std::int64_t last);

  nn::parameter_store const& store_;
  rank_context& rank_;
  gradient_shares& sums_;
  std::int64_t rounds_, kept_, blocks_ = 0;
  /// Number of places that this rank has reached in the round's order: layers outside blocks,
  /// forward of each block, backward of each block
  std::int64_t place_ = 0;
  /// Gathers that have begun, for each of the store's buffers of values
  std::vector<started_collective> gathers_;
};

}  // namespace redco::run

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/run/gathered_values.inl.hpp>
#endif
