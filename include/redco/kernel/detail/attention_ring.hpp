#pragma once

#include <redco/kernel/attention_options.hpp>
#include <redco/kernel/detail/blind_queries.hpp>
#include <redco/comm/group.hpp>
#include <redco/comm/ticket.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/layer/block_pattern.hpp>
#include <redco/shape/sequence_part.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace redco::kernel::detail {

/// The pairs of runs (of queries of this rank, and of keys of another) that ring attention
/// computes, and the exchange of blocks between the ranks.
class attention_ring {
 public:
  attention_ring(attention_options const& o, comm::group& ranks, shape::sequence_part const& part)
      : options_(o),
        ranks_(ranks),
        part_(part),
        next_((part.rank + 1) % part.ranks),
        before_((part.rank + part.ranks - 1) % part.ranks) {
    options_.partial = true;
    options_.sinks.reset();
    if (o.key_mask.defined()) options_.blind = blind_queries(o, part);
  }

  /// Some queries of this rank and keys of a block: index of the first of each, and their numbers,
  /// without padding. The options are those of a partial call with these queries and keys.
  struct pair {
    std::int64_t query, queries, key, keys;
    attention_options options;
  };

  /// Returns the pairs with keys of the rank `of` that queries of this rank see.
  std::vector<pair> pairs_with(int of) const {
    std::int64_t const each = part_.of_run();
    auto const own = part_.runs(), theirs = shape::sequence_part{of, part_.ranks, part_.all}.runs();
    std::vector<pair> all;
    for (std::size_t a = 0; a < 2; ++a)
      for (std::size_t b = 0; b < 2; ++b) {
        pair one{static_cast<std::int64_t>(a) * each, own[a].real, static_cast<std::int64_t>(b) * each, theirs[b].real,
                 options_};
        one.options.query0 = own[a].first - theirs[b].first;
        one.options.key0 = theirs[b].first;
        if (options_.causal && one.options.query0 < 0) continue;
        // Later queries have no key of the run in their window.
        if (options_.window > 0)
          one.queries = std::min(one.queries, one.keys + options_.window - 1 - one.options.query0);
        leave_out_dead(one);
        if (one.queries <= 0 || one.keys <= 0) continue;
        one.options.documents = cut(options_.documents, 1, own[a].first, one.queries);
        one.options.key_mask = cut(options_.key_mask, 1, theirs[b].first, one.keys);
        one.options.blind = cut(options_.blind, 2, one.query, one.queries);
        all.push_back(one);
      }
    return all;
  }

  /// Calls compute(rank, block) for the block of each rank, from this rank's `own` on. Passes each
  /// block on to the next rank during the call.
  template <class Compute>
  void go_round(at::Tensor const& own, Compute const& compute) const {
    at::Tensor block = own;
    for (int step = 0; step < part_.ranks; ++step) {
      bool const passes = step + 1 < part_.ranks;
      comm::ticket sent = passes ? ranks_.send_later(block, next_) : comm::ticket();
      compute((part_.rank - step + part_.ranks) % part_.ranks, block);
      if (!passes) break;
      at::Tensor const arrived = at::empty_like(block);
      ranks_.recv(arrived, before_);
      ranks_.wait(sent);
      block = arrived;
    }
  }

  /// Passes the sum `of_block` for the current block on, and returns the sum that the rank before
  /// has for its own.
  at::Tensor passed_on(at::Tensor const& of_block) const {
    comm::ticket sent = ranks_.send_later(of_block, next_, 1);
    at::Tensor const arrived = at::empty_like(of_block);
    ranks_.recv(arrived, before_, 1);
    ranks_.wait(sent);
    return arrived;
  }

 private:
  static at::Tensor cut(at::Tensor const& x, std::int64_t dim, std::int64_t first, std::int64_t count) {
    return x.defined() ? x.narrow(dim, first, count).contiguous() : x;
  }

  /// Returns true if keys of the run [first, end) are in a global block of the pattern for one of
  /// the heads.
  bool has_global(std::int64_t first, std::int64_t end) const {
    layers::block_pattern const& p = options_.pattern;
    for (std::int64_t h = 0; h < std::min(options_.heads, p.patterns); ++h)
      for (std::int64_t j = first / p.block; j * p.block < end; ++j)
        if (p.is_global(options_.head0 + h, j)) return true;
    return false;
  }

  /// Leaves out the last queries of the pair if the pattern hides all keys from them.
  void leave_out_dead(pair& one) const {
    layers::block_pattern const& p = options_.pattern;
    std::int64_t const first = one.options.key0, end = first + one.keys, query = first + one.options.query0;
    if (!p.is_sparse() || one.keys <= 0 || has_global(first, end)) return;
    while (one.queries > 0) {
      std::int64_t const block = (query + one.queries - 1) / p.block;
      if (p.near_begin(block) * p.block < end) return;
      one.queries = block * p.block - query;
    }
  }

  attention_options options_;
  comm::group& ranks_;
  shape::sequence_part const& part_;
  int next_, before_;
};

}  // namespace redco::kernel::detail
