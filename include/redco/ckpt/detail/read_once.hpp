#pragma once

#include <redco/ckpt/detail/disk_phase.hpp>
#include <redco/ckpt/read_parts.hpp>
#include <redco/ckpt/state_part.hpp>
#include <redco/workdir/disk_limits.hpp>
#include <redco/workdir/part_holders.hpp>
#include <redco/safetensors/weights_source.hpp>

#include <redco/comm/rank_context.hpp>

#include <redco/tensor/torch.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace redco::ckpt::detail {

/// Returns the group of ranks that together hold one replica of the model.
inline comm::group& ranks_of_copy(rank_context& rank) { return rank.group(shape::model_axes); }

/// Returns the group of ranks that hold equal parts, one of each replica.
inline comm::group& equal_ranks(rank_context& rank) { return rank.group(shape::every_axis.without(shape::model_axes)); }

/// Returns, for each of this rank's parts, the ranks that hold an equal part. All ranks of a
/// replica must call it.
inline std::vector<workdir::part_holders> holders_of(std::span<state_part const> parts, rank_context& rank) {
  comm::group& ranks = ranks_of_copy(rank);
  auto const count = static_cast<std::int64_t>(parts.size());
  std::int64_t const most = ranks.all_gather(at::full({1}, count, at::kLong), 0).max().item<std::int64_t>();
  at::Tensor const boxes = at::zeros({most}, at::kLong);
  auto* const own = boxes.mutable_data_ptr<std::int64_t>();
  for (std::size_t i = 0; i < parts.size(); ++i) own[i] = workdir::hash_of_part(parts[i].name, parts[i].box);
  at::Tensor const all = ranks.all_gather(boxes, 0);
  auto holders = workdir::holders_of({all.const_data_ptr<std::int64_t>(), static_cast<std::size_t>(all.numel())},
                                     ranks.rank(), ranks.size(), equal_ranks(rank).size());
  holders.resize(parts.size());
  return holders;
}

/// Sends the values that one rank has read to all other ranks that hold an equal part. `of`: these
/// ranks and the reader. All of them must call it.
inline void hand_on(at::Tensor const& values, workdir::part_holders const& of, rank_context& rank) {
  comm::group& ranks = ranks_of_copy(rank);
  if (equal_ranks(rank).rank() == of.replica) {
    if (static_cast<int>(of.shards.size()) == ranks.size()) {
      ranks.broadcast(values, of.shard);
    } else if (ranks.rank() != of.shard) {
      ranks.recv(values, of.shard);
    } else {
      for (int const shard : of.shards) {
        if (shard != of.shard) ranks.send(values, shard);
      }
    }
  }
  equal_ranks(rank).broadcast(values, of.replica);
}

/// Fills every rank's `parts` from files so that each byte is read by one rank only. Sets padding
/// to zero. `stored`: the same parts in the layout of the files.
///
/// All ranks must call it. Ranks of one pipeline stage have the same tensors, and all ranks have
/// their tensors in the order of the model. Ranks that hold equal parts must hold them in one
/// dtype. `limits`: times of waits for a slow disk. If a rank cannot read, all ranks throw its
/// error.
inline void read_once(safetensors::weights_source const& weights, std::span<state_part const> stored,
                      std::span<state_part const> parts, rank_context& rank, workdir::disk_limits const& limits) {
  at::NoGradGuard const no_grad;
  std::vector<workdir::part_holders> const holders = holders_of(parts, rank);
  std::vector<state_part> to_read;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (ranks_of_copy(rank).rank() != holders[i].shard || equal_ranks(rank).rank() != holders[i].replica) continue;
    to_read.push_back(stored[i]);
    bytes += stored[i].local.nbytes();
  }
  on_disk(rank.world, "loading weights", bytes, limits, [&](disk_phase& phase) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].local.sizes() != at::IntArrayRef(parts[i].box.shape)) parts[i].local.zero_();
    }
    for (state_part const& part : to_read) {
      read_parts(*weights.files, weights.tensors, {&part, 1});
      phase.add(part.local.nbytes());
    }
    return std::string();
  });
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (safetensors::count_of(parts[i].box.shape) > 0) hand_on(parts[i].local, holders[i], rank);
  }
}

}  // namespace redco::ckpt::detail
