#pragma once

#include <redco/tokenizer/chat_template.hpp>

#include <cstddef>
#include <filesystem>
#include <vector>

namespace redco::data {

/// An example of fine-tuning: a conversation, or a prompt and its completion.
struct conversation {
  std::vector<tokenizer::chat_message> messages;
  /// Index of the first message from which on a model learns to write the assistant's messages.
  std::size_t first_answer = 0;
  /// False for a prompt and a completion that are texts: `messages` are the two texts, and no
  /// template surrounds them.
  bool has_roles = true;

  friend bool operator==(conversation const&, conversation const&) = default;
};

/// Returns the conversations of a JSONL file. The object of a line has one of these forms:
/// - "messages": a list of {"role": ..., "content": ...}; every answer of the assistant is learned;
/// - "prompt" and "completion", two lists of messages; the answers in the completion are learned;
/// - "prompt" and "completion", two texts; the completion is learned.
///
/// Other keys are ignored. `invalid` is as in read_jsonl. Throws the errors of read_jsonl; throws
/// `error` with exit code 65 and "path:line: why" for a line of another form and for a conversation
/// without an answer.
std::vector<conversation> read_conversations(std::filesystem::path const& path, double invalid = 0);

/// Two conversations that begin with the same prompt and end with different answers. The first
/// answer is preferred.
struct preference {
  conversation chosen, rejected;

  friend bool operator==(preference const&, preference const&) = default;
};

/// Returns the pairs of a JSONL file. The object of a line has "prompt", "chosen" and "rejected":
/// three texts, or three lists of {"role": ..., "content": ...}.
///
/// Other keys are ignored. `invalid` is as in read_jsonl. Throws the errors of read_jsonl; throws
/// `error` with exit code 65 and "path:line: why" for a line of another form and for an answer that
/// is missing or empty.
std::vector<preference> read_preferences(std::filesystem::path const& path, double invalid = 0);

}  // namespace redco::data

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/data/read_conversations.inl.hpp>
#endif
