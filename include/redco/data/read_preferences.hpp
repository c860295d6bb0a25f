#pragma once

#include <redco/data/read_conversations.hpp>

#include <filesystem>
#include <vector>

namespace redco::data {

/// Two conversations that begin with the same prompt and end with different answers. The first
/// answer is preferred.
struct preference {
  conversation chosen, rejected;

  friend bool operator==(preference const&, preference const&) = default;
};

/// Returns the pairs of a JSONL file. The object of a line has "prompt", "chosen" and "rejected": three
/// texts, or three lists of {"role": ..., "content": ...}. The answers are those under "chosen" and
/// "rejected".
///
/// Other keys are ignored. `invalid` is as in read_jsonl. Throws the errors of read_jsonl; throws
/// `error` with exit code 65 and "path:line: why" for a line of another form and for an answer that
/// is missing or empty.
std::vector<preference> read_preferences(std::filesystem::path const& path, double invalid = 0);

}  // namespace redco::data

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/data/read_preferences.inl.hpp>
#endif
