#pragma once

#include <redco/json/value.hpp>
#include <redco/json/value_fwd.hpp>

#include <redco/diag/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::tokenizer::detail {

/// A JSON value with its path in a tokenizer's file, for error messages such as "tokenizer.json:
/// model.vocab is missing". Members throw `error` with exit code 65 if the value has an unexpected
/// type.
class json_node {
 public:
  json_node(json::json_value const& value, std::string location) : value_(&value), location_(std::move(location)) {}

  json::json_value const& value() const { return *value_; }
  std::string const& location() const { return location_; }

  [[noreturn]] void refuse(std::string const& why) const {
    throw error(exit_code::data, location_ + (location_.ends_with(": ") ? "" : " ") + why);
  }
  /// Throws `error` with exit code 65, because the tokenizer's file asks for `feature`, which redco
  /// does not support.
  [[noreturn]] void refuse_kind(std::string_view feature) const {
    refuse(std::string(feature) + " is not computed here; use a tokenizer that does without");
  }

  /// Returns the member `key` of a JSON object, or nullopt if this member is absent or null.
  std::optional<json_node> find(std::string_view key) const {
    if (!value_->is_object()) refuse("should be a JSON object; write the file again with the program that made it");
    auto const found = value_->find(std::string(key));
    if (found == value_->end() || found->is_null()) return std::nullopt;
    return json_node(*found, inner(key));
  }
  json_node at(std::string_view key) const {
    if (auto found = find(key)) return *std::move(found);
    throw error(exit_code::data, inner(key) + " is missing; write the file again with the program that made it");
  }

  std::vector<json_node> elements() const {
    if (!value_->is_array()) refuse("should be a JSON array; write the file again with the program that made it");
    std::vector<json_node> all;
    for (std::size_t i = 0; i < value_->size(); ++i)
      all.emplace_back((*value_)[i], location_ + '[' + std::to_string(i) + ']');
    return all;
  }

  std::string const& text() const {
    if (!value_->is_string()) refuse("should be a string; write the file again with the program that made it");
    return value_->get_ref<std::string const&>();
  }
  bool flag(std::string_view key, bool standard = false) const {
    auto const found = find(key);
    if (!found) return standard;
    if (!found->value_->is_boolean())
      found->refuse("should be true or false; write the file again with the program that made it");
    return found->value_->get<bool>();
  }
  std::uint32_t number() const { return number(*value_, *this); }
  /// Returns the JSON number `value`. Throws `error` with exit code 65 and the path of `blamed` if
  /// `value` is not a valid unsigned number. Reading thousands of numbers this way needs no
  /// json_node for each.
  static std::uint32_t number(json::json_value const& value, json_node const& blamed) {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most)
      blamed.refuse("should hold whole numbers from 0 to " + std::to_string(most) +
                    "; write the file again with the program that made it");
    return value.get<std::uint32_t>();
  }

  /// Throws `error` with exit code 65 if this JSON object has a key outside `keys` whose value is
  /// neither null nor false.
  void knows(std::initializer_list<std::string_view> keys) const {
    if (!value_->is_object()) refuse("should be a JSON object; write the file again with the program that made it");
    for (auto const& [key, value] : value_->items()) {
      bool const harmless = value.is_null() || (value.is_boolean() && !value.get<bool>());
      if (!harmless && std::find(keys.begin(), keys.end(), key) == keys.end())
        json_node(value, inner(key)).refuse_kind("is a setting that");
    }
  }

 private:
  static constexpr std::uint32_t most = 0x7FFFFFFF;

  std::string inner(std::string_view key) const {
    return location_ + (location_.ends_with(": ") ? "" : ".") + std::string(key);
  }

  json::json_value const* value_;
  std::string location_;
};

}  // namespace redco::tokenizer::detail
