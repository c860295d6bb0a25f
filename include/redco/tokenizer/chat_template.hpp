#pragma once

#include <redco/tokenizer/tokenizer.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace redco::tokenizer {

/// A message of a conversation.
struct chat_message {
  std::string role;     ///< "system", "user", "assistant", or another role that the template knows
  std::string content;  ///< text of the message; the texts of all parts of a list
  /// JSON of the object that the template sees, such as {"role": "assistant", "tool_calls": [...]}.
  /// Empty for an object of `role` and `content`.
  std::string object = {};
  bool trained = true;  ///< false for an answer that a model does not learn

  friend bool operator==(chat_message const&, chat_message const&) = default;
};

/// Token ids of a text, with a mark for each id that a model is trained to write.
struct marked_ids {
  std::vector<std::int64_t> ids;
  std::vector<bool> trained;  ///< as many as `ids`; true for tokens of an answer

  friend bool operator==(marked_ids const&, marked_ids const&) = default;
};

/// A text and the ranges of its bytes, [begin, end), that are answers of the assistant.
struct chat_text {
  std::string text;
  std::vector<std::pair<std::size_t, std::size_t>> answers;
};

/// Limits of what a chat template, a program from a file, may use for one conversation.
struct chat_limits {
  std::size_t memory = std::size_t{1} << 29;  ///< bytes beyond those of the program
  std::size_t bytes = std::size_t{1} << 26;   ///< bytes of the text
  unsigned cpu_seconds = 20;                  ///< seconds of computation
  unsigned seconds = 300;                     ///< seconds that pass
};

/// A conversation of which `chat_template::marked_texts` returns the text.
struct chat_request {
  std::span<chat_message const> messages;
  std::size_t first = 0;       ///< index of the first message from which on answers are marked
  std::string variables = {};  ///< JSON of further variables of the template, as in `text`
  std::string where = {};      ///< place of the conversation, for error messages
};

/// The template of a model's folder that writes a conversation as one text, in the language Jinja.
/// Texts equal those of `apply_chat_template` in transformers. Copies share the template; threads
/// may call concurrently. A child process renders texts within limits, so that a template cannot
/// crash, stop or fill the program. Exceeding a limit is an error with exit code 65.
class chat_template {
 public:
  /// Reads chat_template.jinja, or else "chat_template" of tokenizer_config.json. From a list of
  /// named templates, it takes the template "default", and "tool_use" for conversations with tools.
  /// Throws `error` with exit code 65 if the folder has no template, if it cannot be parsed, or if
  /// redco was built without minja.
  explicit chat_template(std::filesystem::path const& folder, chat_limits limits = {});

  /// Takes a template in Jinja. `names`: contents of bos_token, eos_token, pad_token and unk_token
  /// in the template. `source`: name of the template, for error messages.
  chat_template(std::string const& jinja, special_names const& names, std::string source, chat_limits limits = {});

  /// Returns the text of a conversation. If `asks`, the beginning of the assistant's answer follows
  /// (`add_generation_prompt`). `variables`: JSON of an object with further variables of the
  /// template, such as {"tools": [...], "enable_thinking": false}; may be empty.
  ///
  /// A list of text parts is given as a list to a template that reads lists, and as one text to
  /// others. Throws `error` with exit code 65 if the template refuses the conversation, as some do
  /// if roles do not alternate, and for values that Jinja cannot append to a text.
  std::string text(std::span<chat_message const> messages, bool asks = false, std::string const& variables = {}) const;

  /// Returns the text of a conversation, and its trained answers from message `first` on. An answer
  /// is what `{% generation %}` and `{% endgeneration %}` enclose. In a template without these
  /// tags, an answer begins after the text that asks for it and ends with the tag that closes its
  /// turn, such as "<|im_end|>". Renderings with a mark in the place of a message's content show
  /// this range, so that it does not depend on the words of the answer. Throws the errors of
  /// `text`, also if the template hides the range.
  chat_text marked_text(std::span<chat_message const> messages, std::size_t first = 0,
                        std::string const& variables = {}) const;

  /// Returns marked_text() of several conversations, which one child process renders. Errors begin
  /// with the place of their conversation.
  std::vector<chat_text> marked_texts(std::span<chat_request const> requests) const;

 private:
  struct compiled;
  std::shared_ptr<compiled const> compiled_;
};

/// Returns the ids of `text.text` without the special tokens that a tokenizer adds around a text,
/// and marks the ids of its answers. A token that contains the first byte or the last byte of an
/// answer belongs to the answer.
marked_ids marked_ids_of(any_tokenizer const& tokenizer, chat_text const& text);

}  // namespace redco::tokenizer

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/tokenizer/chat_template.inl.hpp>
#endif
