#pragma once

#include <redco/data/read_conversations.hpp>
#include <redco/json/value.hpp>
#include <redco/diag/error.hpp>

#include <string>

namespace redco::data::detail {

/// Appends the messages under `key` to a conversation. Throws `error` with exit code 65 for a value
/// that is no list of messages.
inline void append_messages(json::json_value const& list, std::string const& key, std::string const& where,
                            conversation& all) {
  auto const text = [&](json::json_value const& message, char const* name) {
    auto const found = message.is_object() ? message.find(name) : message.end();
    if (!message.is_object() || found == message.end() || !found->is_string())
      throw error(exit_code::data, where + ": element " + std::to_string(all.messages.size() + 1) + " under \"" + key +
                                       "\" has no text \"" + name + R"("; write {"role": "user", "content": "text"})");
    return found->get<std::string>();
  };
  for (json::json_value const& message : list)
    all.messages.push_back({text(message, "role"), text(message, "content")});
}

}  // namespace redco::data::detail
