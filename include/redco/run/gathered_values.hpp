#pragma once

#include <redco/run/gradient_shares.hpp>
#include <redco/run/started_collective.hpp>
#include <redco/nn/parameter_store.hpp>
#include <redco/nn/value_source.hpp>
#include <redco/comm/group.hpp>
#include <redco/comm/joint_calls.hpp>
#include <redco/comm/rank_context.hpp>
#include <redco/shape/blocks.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco::run {

/// `gather_all` gathers all values of a store of which each replica keeps only a share. All ranks
/// must call it together. `drop_all` frees the values. Both do nothing for other stores.
void gather_all(nn::parameter_store const& store, rank_context& rank);
void drop_all(nn::parameter_store const& store);
/// Returns the range of the blocks whose values the replicas share out.
shape::block_range shared_blocks(nn::parameter_store const& store);

/// A scope in which all values of a store are in memory. All ranks must make it together. Does
/// nothing for a store whose values the replicas do not share out.
class whole_values {
 public:
  whole_values(nn::parameter_store const& store, rank_context& rank) : store_(store) { gather_all(store, rank); }
  whole_values(whole_values const&) = delete;
  whole_values& operator=(whole_values const&) = delete;
  ~whole_values() { drop_all(store_); }

 private:
  nn::parameter_store const& store_;
};

/// The values of parameters during a step, if each replica keeps only a share of them (ZeRO level
/// 3). Gathers the values of a block before forward and before backward of the block, and drops
/// them after it. Layers outside blocks have their values during the whole step. If messages
/// overlap with computation, the gather of the next block runs while a block is computed.
///
/// All ranks gather the blocks and sum their gradients in one order, which follows from the step's
/// operations and the model alone. A rank whose loss skips a layer, or which does not compute a
/// micro-batch, takes part in that order.
class gathered_values final : public nn::value_source {
 public:
  /// `sums`: the sums of each backward's gradients; null if gradients are summed after all
  /// backwards. `kept`: number of blocks, from the first on, whose values stay in memory during the
  /// whole step. The arguments must outlive the object.
  gathered_values(nn::parameter_store const& store, rank_context& rank, gradient_shares* sums, std::int64_t kept = 0);
  ~gathered_values() override;

  /// `begin_forward` begins forward of the blocks [begin, end), which a micro-batch runs on this
  /// rank. `begin_backward` begins their backward, last block first. Both end what ran before.
  void begin_forward(shape::block_range const& blocks) { begin(blocks, false); }
  void begin_backward(shape::block_range const& blocks) { begin(blocks, true); }
  /// Gathers and sums what this rank has not reached in the current forward or backward.
  void end();
  /// Frees all values. The step gathers none after this call.
  void drop_all();

  /// Throws `error` with exit code 64 for the second call of the network in one forward.
  void begin_call() override;
  void enter(std::int64_t block) override { advance(block + 1 - blocks_.begin); }
  void enter_backward(std::int64_t block) override { advance(blocks_.end - block); }

 private:
  void begin(shape::block_range const& blocks, bool is_backward);
  void advance(std::int64_t place);
  void begin_gather(std::int64_t block);
  void end_gather(std::int64_t block);

  nn::parameter_store const& store_;
  rank_context& rank_;
  gradient_shares* sums_;
  std::int64_t kept_;
  /// The blocks of the current forward or backward, and the number of them that it has reached
  shape::block_range blocks_{0, 0};
  std::int64_t place_ = 0;
  bool is_backward_ = false, is_called_ = false;
  /// The last gather that has begun in each lane, for each of the store's buffers of values
  std::vector<std::vector<started_collective>> gathers_;
};

/// The values of parameters during an evaluation, a prediction, or a step of the program's own, if
/// each replica keeps only a share of them. Gathers the values of a block before each call of the
/// block, and drops them after it. Layers outside blocks, and the first zero().keep blocks, have
/// their values until the object is destroyed.
///
/// Replicas may make different calls, for example if they generate texts or add different numbers
/// of losses. They announce each call and backward to each other. All take part in the gathers and
/// sums of the call that comes first.
class gathered_calls final : public nn::value_source {
 public:
  /// `sums`: the sums of each backward's gradients; null if no call needs a backward. The arguments
  /// must outlive the object.
  gathered_calls(nn::parameter_store const& store, rank_context& rank, gradient_shares* sums = nullptr);

  /// Throws `error` with exit code 64 for the second call that autograd records before a backward.
  void begin_call() override;
  void enter(std::int64_t block) override { values_.enter(block); }
  /// Throws `error` with exit code 64 outside of begin_backward() and end().
  void enter_backward(std::int64_t block) override;

  /// Begins backward of the calls so far, which end() ends.
  void begin_backward();
  /// Waits until all replicas sum the counts of their losses, before any backward.
  void begin_counts() { begin(comm::joint_call::counts); }
  /// Gathers and sums what this rank has not reached in the current call or backward.
  void end();
  /// Takes part in the calls of other replicas. Returns when no replica has a call left. All ranks
  /// call it after their last call.
  void join() { begin(comm::joint_call::none); }

 private:
  void begin(comm::joint_call own);

  gathered_values values_;
  gradient_shares* sums_;
  comm::group& sharing_;       ///< ranks that share the values out
  shape::block_range blocks_;  ///< all blocks of the model
  comm::joint_call current_ = comm::joint_call::none;
  bool is_recorded_ = false;  ///< true from a call that autograd records to its backward
};

}  // namespace redco::run

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/run/gathered_values.inl.hpp>
#endif
