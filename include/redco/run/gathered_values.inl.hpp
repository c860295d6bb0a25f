#pragma once

#include <redco/run/gathered_values.hpp>

#include <redco/comm/group.hpp>
#include <redco/shard/shares.hpp>
#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <algorithm>

namespace redco::run {

REDCO_INLINE void gather(nn::parameter_store::value_part const& one, at::Tensor const& values,
                         nn::parameter_store const& store, rank_context const& rank) {
  at::NoGradGuard const no_grad;
  comm::collective_label const label("parameters");
  for (shard::shared_range const& range : store.shares())
    if (one.begin <= range.begin && range.end <= one.end)
      rank.group(range.over).all_gather_in_place(values.narrow(0, range.begin - one.begin, range.size()));
}

REDCO_INLINE gathered_values::gathered_values(nn::parameter_store const& store, rank_context& rank,
                                              gradient_shares& sums, std::int64_t rounds, std::int64_t kept)
    : store_(store), rank_(rank), sums_(sums), rounds_(rounds), kept_(kept) {
  for (nn::parameter_store::value_part const& one : store.value_parts()) blocks_ = std::max(blocks_, one.block + 1);
  store_.set_source(this);
}

REDCO_INLINE gathered_values::~gathered_values() {
  store_.set_source(nullptr);
  drop(-1, blocks_);
}

REDCO_INLINE void gathered_values::begin_call() {
  if (place_ > 0)
    throw error(exit_code::usage,
                "--zero 3 and a loss that calls its network twice: the replicas gather the parameters for one call; "
                "put the inputs into one batch, or give --zero 2");
  advance(1);
}

REDCO_INLINE void gathered_values::end_round() {
  advance(1 + 2 * blocks_);
  sums_.end_round();
  place_ = 0;
  if (--rounds_ == 0) drop(-1, blocks_);
}

REDCO_INLINE void gathered_values::advance(std::int64_t place) {
  while (place_ < place) {
    std::int64_t const done = place_++, block = done <= blocks_ ? done - 1 : 2 * blocks_ - done;
    if (done > blocks_) {
      sums_.begin_backward(block);
      drop(block + 1, blocks_);
    } else if (block > 0) {
      drop(block - 1, block);
    }
    take(block);
  }
}

/// Gathers the values of a block, or of the layers outside blocks (-1), unless they are in memory.
REDCO_INLINE void gathered_values::take(std::int64_t block) {
  for (nn::parameter_store::value_part const& one : store_.value_parts())
    if (one.block == block && !nn::parameter_store::is_whole(one)) gather(one, store_.allocate(one), store_, rank_);
}

/// Frees the values of the blocks [first, last), except those that are kept in the step's rounds.
REDCO_INLINE void gathered_values::drop(std::int64_t first, std::int64_t last) {
  for (nn::parameter_store::value_part const& one : store_.value_parts())
    if (first <= one.block && one.block < last && (rounds_ == 0 || one.block >= kept_)) nn::parameter_store::drop(one);
}

}  // namespace redco::run
