#pragma once

#include <redco/comm/collective_label.hpp>
#include <redco/comm/group.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/diag/error.hpp>

#include <cstdint>
#include <string>

namespace redco::run {

/// All ranks call it before an epoch, as steps of different length would wait for each other in vain. Errors: exit code
/// 65, on every rank, where they have different numbers of examples.
inline void check_same_examples(group& world, std::int64_t examples, std::int64_t epoch) {
  comm::collective_label const label("numbers of examples");
  at::Tensor const all = world.all_gather(at::full({1}, examples, at::kLong), 0);
  for (std::int64_t rank = 1; rank < all.numel(); ++rank) {
    std::int64_t const first = all[0].item<std::int64_t>(), other = all[rank].item<std::int64_t>();
    if (other == first) continue;
    throw error(exit_code::data, "epoch " + std::to_string(epoch + 1) + ": rank 0 has " + std::to_string(first) +
                                     " training examples and rank " + std::to_string(rank) + " has " +
                                     std::to_string(other) + ": train_of_epoch must give every rank the same ones");
  }
}

}  // namespace redco::run
