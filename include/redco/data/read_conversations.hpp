#pragma once

#include <redco/tokenizer/chat_template.hpp>

#include <cstddef>
#include <filesystem>
#include <string>
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
  /// JSON object of further variables of the chat template, such as "tools"; empty if there are
  /// none
  std::string variables = {};
  std::string where = {};  ///< "path:line" of the conversation, for error messages; not compared

  friend bool operator==(conversation const& a, conversation const& b) {
    return a.messages == b.messages && a.first_answer == b.first_answer && a.has_roles == b.has_roles &&
           a.variables == b.variables;
  }
};

/// Returns the conversations of a JSONL file. A line is an object with one of these forms:
/// - "messages": a list of {"role": ..., "content": ...}; every answer of the assistant is learned;
/// - "prompt" and "completion", two lists of messages; the answers in the completion are learned;
/// - "prompt" and "completion", two texts; the completion is learned.
///
/// docs/your-own-data.md lists further keys. `invalid` is as in read_jsonl. Throws the errors of
/// read_jsonl. Throws `error` with exit code 65 and "path:line: why" for a line of another form or
/// without an answer, and for keys that are not obeyed.
std::vector<conversation> read_conversations(std::filesystem::path const& path, double invalid = 0);

/// Two conversations that begin with the same prompt and end with different answers. The first
/// answer is preferred.
struct preference {
  conversation chosen, rejected;

  friend bool operator==(preference const&, preference const&) = default;
};

/// Returns the pairs of a JSONL file. The object of a line has "prompt", "chosen" and "rejected":
/// three texts, or three lists of {"role": ..., "content": ...}. Other keys are as in
/// read_conversations.
///
/// `invalid` is as in read_jsonl. Throws the errors of read_jsonl; throws `error` with exit code 65
/// and "path:line: why" for a line of another form and for an answer that is missing or empty.
std::vector<preference> read_preferences(std::filesystem::path const& path, double invalid = 0);

}  // namespace redco::data

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/data/read_conversations.inl.hpp>
#endif
