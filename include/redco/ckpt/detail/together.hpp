#pragma once

#include <redco/comm/group.hpp>
#include <redco/diag/outcomes.hpp>

#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace redco::ckpt::detail {

/// Every rank's text, in rank order, on all ranks.
inline std::vector<std::string> gather_texts(group& world, std::string const& text) {
  auto const length = static_cast<std::int64_t>(text.size());
  at::Tensor const lengths = world.all_gather(at::full({1}, length, at::kLong), 0);
  std::int64_t const longest = lengths.max().item<std::int64_t>();
  at::Tensor const padded = at::zeros({std::max<std::int64_t>(longest, 1)}, at::kByte);
  std::memcpy(padded.data_ptr(), text.data(), text.size());
  at::Tensor const all = world.all_gather(padded, 0);
  std::vector<std::string> texts;
  for (std::int64_t rank = 0; rank < world.size(); ++rank) {
    auto const* const first = static_cast<char const*>(all.data_ptr()) + rank * padded.numel();
    texts.emplace_back(first, static_cast<std::size_t>(lengths[rank].item<std::int64_t>()));
  }
  return texts;
}

/// Runs `work()`, which returns a text and calls no collective, on every rank, and tells all ranks how it went on each,
/// so that no one is left waiting and no one goes on alone. Throws only when the group itself fails.
template <class Work>
diag::outcomes attempt_together(group& world, Work work) {
  return diag::outcomes_of(gather_texts(world, diag::told_outcome(work)));
}

/// The same, and throws the failure on every rank.
template <class Work>
std::vector<std::string> together(group& world, Work work) {
  diag::outcomes result = attempt_together(world, work);
  if (result.failure) throw *result.failure;
  return std::move(result.texts);
}

}  // namespace redco::ckpt::detail
