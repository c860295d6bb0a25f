#pragma once

#include <redco/run/gathered_values.hpp>

#include <redco/comm/group.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/shard/shares.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace redco::run::detail {

/// Allocates a buffer of values and starts to gather the shares of all ranks in it. Returns the
/// last gather in each lane: experts and other parameters have shares on other ranks.
inline std::vector<started_collective> gather(nn::parameter_store::value_part const& part,
                                              nn::parameter_store const& store, rank_context& rank, bool overlaps) {
  comm::collective_label const label("parameters");
  at::Tensor const values = store.allocate(part);
  std::vector<started_collective> last;
  for (shard::shared_range const& one : store.shares()) {
    if (one.begin < part.begin || part.end < one.end) continue;
    at::Tensor const range = values.narrow(0, one.begin - part.begin, one.size());
    started_collective const now = start(rank, one.over, overlaps, [range](comm::group& ranks) {
      at::NoGradGuard const no_grad;
      ranks.all_gather_in_place(range);
    });
    auto const before =
        std::find_if(last.begin(), last.end(), [&](auto const& other) { return other.lane == now.lane; });
    if (before == last.end()) last.push_back(now);
    else *before = now;
  }
  return last;
}

}  // namespace redco::run::detail

namespace redco::run {

REDCO_INLINE void gather_all(nn::parameter_store const& store, rank_context& rank) {
  for (nn::parameter_store::value_part const& one : store.value_parts()) detail::gather(one, store, rank, false);
}

REDCO_INLINE void drop_all(nn::parameter_store const& store) {
  for (nn::parameter_store::value_part const& one : store.value_parts()) store.drop(one);
  store.forget_dropped();
}

REDCO_INLINE shape::block_range shared_blocks(nn::parameter_store const& store) {
  std::int64_t blocks = 0;
  for (nn::parameter_store::value_part const& part : store.value_parts()) blocks = std::max(blocks, part.block + 1);
  return {0, blocks};
}

REDCO_INLINE gathered_values::gathered_values(nn::parameter_store const& store, rank_context& rank,
                                              gradient_shares* sums, std::int64_t kept)
    : store_(store), rank_(rank), sums_(sums), kept_(kept), gathers_(store.value_parts().size()) {
  store_.set_source(this);
}

REDCO_INLINE gathered_values::~gathered_values() {
  store_.set_source(nullptr);
  try {
    for (std::vector<started_collective> const& all : gathers_)
      for (started_collective const& one : all) one.wait();
  } catch (std::exception const&) {
    // The lane has failed and touches no memory any more. The step ends with its error.
  }
  drop_all();
}

REDCO_INLINE void gathered_values::begin_call() {
  if (std::exchange(is_called_, true))
    throw error(exit_code::usage,
                "--zero 3 and a loss that calls its network twice: the replicas gather the parameters for one call; "
                "put the inputs into one batch, or give --zero 2");
}

REDCO_INLINE void gathered_values::begin(shape::block_range const& blocks, bool is_backward) {
  end();
  blocks_ = blocks;
  is_backward_ = is_backward;
  place_ = 0;
  is_called_ = false;
  end_gather(-1);
}

REDCO_INLINE void gathered_values::end() { advance(blocks_.end - blocks_.begin); }

REDCO_INLINE void gathered_values::drop_all() { run::drop_all(store_); }

REDCO_INLINE void gathered_values::advance(std::int64_t place) {
  while (place_ < place) {
    std::int64_t const done = place_++;
    std::int64_t const block = is_backward_ ? blocks_.end - 1 - done : blocks_.begin + done;
    std::int64_t const next = is_backward_ ? block - 1 : block + 1;
    if (is_backward_ && sums_ != nullptr) sums_->begin_backward(block);
    for (nn::parameter_store::value_part const& one : store_.value_parts())
      if (one.block != block && one.block >= kept_) store_.drop(one);
    end_gather(block);
    if (store_.zero().overlaps && blocks_.begin <= next && next < blocks_.end) begin_gather(next);
    store_.forget_dropped();
  }
}

/// Begins to gather the values of a block, or of the layers outside blocks (-1), unless they are in
/// memory.
REDCO_INLINE void gathered_values::begin_gather(std::int64_t block) {
  for (std::size_t i = 0; i < gathers_.size(); ++i) {
    nn::parameter_store::value_part const& one = store_.value_parts()[i];
    if (one.block == block && !nn::parameter_store::is_whole(one))
      gathers_[i] = detail::gather(one, store_, rank_, store_.zero().overlaps);
  }
}

/// Gathers the values of a block, or of the layers outside blocks (-1), unless they are in memory.
REDCO_INLINE void gathered_values::end_gather(std::int64_t block) {
  begin_gather(block);
  for (std::size_t i = 0; i < gathers_.size(); ++i)
    if (store_.value_parts()[i].block == block)
      for (started_collective const& one : gathers_[i]) one.wait();
}

REDCO_INLINE gathered_calls::gathered_calls(nn::parameter_store const& store, rank_context& rank, gradient_shares* sums)
    : values_(store, rank, sums, store.zero().keep),
      sums_(sums),
      sharing_(sharing_ranks(store, rank)),
      blocks_(shared_blocks(store)) {
  store.set_source(this);
}

REDCO_INLINE void gathered_calls::begin_call() {
  if (sums_ != nullptr && at::GradMode::is_enabled() && std::exchange(is_recorded_, true))
    throw error(exit_code::usage,
                "--zero 3 and a step that calls its network twice before it adds a loss: the replicas gather the "
                "parameters for one call; put the inputs into one batch, turn gradients off for calls without a loss, "
                "or give --zero 2");
  begin(comm::joint_call::forward);
}

REDCO_INLINE void gathered_calls::begin_backward() {
  is_recorded_ = false;
  begin(comm::joint_call::backward);
}

REDCO_INLINE void gathered_calls::enter_backward(std::int64_t block) {
  if (current_ == comm::joint_call::backward) return values_.enter_backward(block);
  throw error(
      exit_code::usage,
      std::string("--zero 3 and gradients ") +
          (sums_ == nullptr ? "in an evaluation or a prediction" : "that a step does not compute by add(loss)") +
          ": the parameters of a block are in memory only while the block is called; compute them in the loss, "
          "or give --zero 2");
}

REDCO_INLINE void gathered_calls::end() {
  values_.end();
  if (std::exchange(current_, comm::joint_call::none) == comm::joint_call::backward) sums_->end_round();
}

/// Begins the call `own` of this rank, after all calls of other replicas that come before it.
REDCO_INLINE void gathered_calls::begin(comm::joint_call own) {
  do {
    end();
    current_ = comm::first_of(sharing_, own);
    if (current_ == comm::joint_call::forward) values_.begin_forward(blocks_);
    if (current_ == comm::joint_call::backward) values_.begin_backward(blocks_);
  } while (current_ != own);
}

}  // namespace redco::run
