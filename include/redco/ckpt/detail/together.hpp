#pragma once

#include <redco/comm/group.hpp>
#include <redco/diag/error.hpp>
#include <redco/diag/exit_code.hpp>

#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace redco::detail {

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

/// What came of a piece of work that all ranks did.
struct outcome {
  std::vector<std::string> texts;  ///< every rank's, in rank order
  std::optional<error> failure;    ///< of the first rank that failed; the same on all ranks
};

/// Runs `work()`, which returns a text and calls no collective, on every rank, and tells all ranks how it went on each,
/// so that no one is left waiting and no one goes on alone. Throws only when the group itself fails.
template <class Work>
outcome attempt_together(group& world, Work work) {
  std::string answer;
  try {
    answer = "+" + work();
  } catch (error const& failure) {
    answer = "-" + std::to_string(static_cast<int>(failure.code())) + " " + failure.what();
  } catch (std::exception const& failure) {
    answer = "-" + std::to_string(static_cast<int>(exit_code::internal)) + " " + failure.what();
  }
  outcome result{.texts = gather_texts(world, answer), .failure = std::nullopt};
  for (std::size_t rank = 0; rank < result.texts.size(); ++rank) {
    std::string& text = result.texts[rank];
    if (text.front() == '-' && !result.failure) {
      int code = 0;
      char const* const end = text.data() + text.size();
      char const* const rest = std::from_chars(text.data() + 1, end, code).ptr;
      auto const kind = static_cast<exit_code>(code);
      std::string const what(rest + 1, end);
      result.failure = world.size() > 1 ? error(kind, static_cast<int>(rank), what) : error(kind, what);
    }
    text.erase(0, 1);
  }
  return result;
}

/// The same, and throws the failure on every rank.
template <class Work>
std::vector<std::string> together(group& world, Work work) {
  outcome result = attempt_together(world, work);
  if (result.failure) throw *result.failure;
  return std::move(result.texts);
}

}  // namespace redco::detail
