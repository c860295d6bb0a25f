#pragma once

#include <redco/pretrained.hpp>

#include <cstdint>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

/// Returns the texts of --text, of which a model learns all tokens, or the conversations of
/// --conversations, of which it learns the answers. Each has at most `context` tokens. Throws
/// `error` with exit code 64 unless one of the two options is given. `o`: the program's options.
template <class Options>
std::vector<redco::tokenizer::marked_ids> marked_texts(redco::pretrained_folder const& folder, Options const& o,
                                                       std::int64_t context) {
  if (o.conversations.empty() == o.text.empty())
    throw redco::error(redco::exit_code::usage, "give --text or --conversations, and not both");
  if (o.conversations.empty()) {
    std::vector<redco::tokenizer::marked_ids> all;
    for (auto& ids : redco::token_windows(folder.encoded(redco::read_texts(o.text, o.key, o.invalid_utf8)), context))
      all.push_back({ids, std::vector<bool>(ids.size(), true)});
    return all;
  }
  std::vector<redco::data::conversation> chats;
  for (std::string const& path : o.conversations)
    for (auto& one : redco::data::read_conversations(path, o.invalid_utf8)) chats.push_back(std::move(one));
  auto answers = redco::text::fitted(folder.encoded(chats), context);
  std::cout << answers.examples.size() << " conversations, " << answers.shortened << " of them cut at " << context
            << " tokens; " << answers.left_out << " left out, because no answer is within them\n";
  return std::move(answers.examples);
}
