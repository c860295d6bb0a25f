#pragma once

#include <redco/diag/error.hpp>

#include <charconv>
#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace redco::diag {

/// A set of results of a function that all ranks ran, gathered from all ranks.
struct outcomes {
  std::vector<std::string> texts;  ///< Texts that the function returned on all ranks, in rank order
  /// Error of the first rank whose function failed; empty: none failed.
  std::optional<error> failure;
};

/// Runs `work()`, which returns a text. Returns one text that a rank can send to other ranks: "+"
/// and the result, or, if `work` threw an exception, "-", the exit code and the message.
template <class Work>
std::string outcome_text(Work work) {
  auto const failed = [](exit_code code, char const* message) {
    return "-" + std::to_string(static_cast<int>(code)) + " " + message;
  };
  try {
    return "+" + work();
  } catch (error const& failure) {
    return failed(failure.code(), failure.what());
  } catch (std::exception const& failure) {
    return failed(exit_code::internal, failure.what());
  }
}

/// Decodes the texts that outcome_text() returned on all ranks, given in rank order. If there are
/// several ranks, the decoded failure names its rank.
inline outcomes outcomes_of(std::vector<std::string> received) {
  outcomes result{.texts = std::move(received), .failure = std::nullopt};
  for (std::size_t rank = 0; rank < result.texts.size(); ++rank) {
    std::string& text = result.texts[rank];
    if (text.front() == '-' && !result.failure) {
      int code = 0;
      char const* const end = text.data() + text.size();
      char const* const rest = std::from_chars(text.data() + 1, end, code).ptr;
      auto const kind = static_cast<exit_code>(code);
      std::string const message(rest + 1, end);
      result.failure = result.texts.size() > 1 ? error(kind, static_cast<int>(rank), message) : error(kind, message);
    }
    text.erase(0, 1);
  }
  return result;
}

}  // namespace redco::diag
