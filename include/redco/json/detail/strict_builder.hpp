#pragma once

#include <redco/json/limits.hpp>
#include <redco/json/value.hpp>

#include <redco/diag/error.hpp>
#include <redco/meta/hexadecimal.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace redco::json::detail {

/// An input of the JSON parser that counts in `*read` the characters that the parser has taken.
struct counting_reader {
  using char_type = char;

  std::string_view text;
  std::size_t* read;

  std::char_traits<char>::int_type get_character() {
    if (*read == text.size()) return std::char_traits<char>::eof();
    return std::char_traits<char>::to_int_type(text[(*read)++]);
  }
};

/// A builder of a JSON value from the parser's events. Refuses input that the parser accepts: equal
/// keys in an object, NUL in strings, too much depth, too many values. Checks keys in a hash set
/// and appends them without a search, so that the time is linear in the text.
class strict_builder final : public nlohmann::json_sax<json_value> {
 public:
  strict_builder(std::string_view text, std::string const& source, json_limits limits)
      : text_(text), source_(source), limits_(limits) {}

  counting_reader reader() { return {text_, &read_}; }
  json_value take() { return std::move(root_); }

  bool null() override { return add(nullptr) != nullptr; }
  bool boolean(bool value) override { return add(value) != nullptr; }
  bool number_integer(std::int64_t value) override { return add(value) != nullptr; }
  bool number_unsigned(std::uint64_t value) override { return add(value) != nullptr; }
  bool number_float(double value, std::string const&) override { return add(value) != nullptr; }
  bool string(std::string& value) override {
    refuse_nul(value);
    return add(std::move(value)) != nullptr;
  }
  bool binary(binary_t&) override { return false; }  // JSON text has no binary values

  bool key(std::string& name) override {
    refuse_nul(name);
    if (!open_.back().keys.insert(name).second) refuse("the key \"" + name + "\" appears twice in one object");
    open_.back().key = std::move(name);
    return true;
  }
  bool start_object(std::size_t) override { return enter(json_value::object()); }
  bool start_array(std::size_t) override { return enter(json_value::array()); }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }

  bool parse_error(std::size_t, std::string const&, nlohmann::detail::exception const& e) override {
    // Example: "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error ..."
    std::string message = e.what();
    if (auto const code = message.find("] "); code != std::string::npos) message.erase(0, code + 2);
    if (message.starts_with("parse error at ")) {
      if (auto const colon = message.find(": "); colon != std::string::npos) message.erase(0, colon + 2);
    }
    // The words end with the bytes read last; an error must be UTF-8 on terminals and in logs.
    refuse(message.find("ill-formed UTF-8") == std::string::npos ? message : escaped(message));
  }

 private:
  /// Returns `text` with \xNN in place of each byte that is no ASCII.
  static std::string escaped(std::string_view text) {
    std::string ascii;
    for (char const c : text) {
      if (static_cast<unsigned char>(c) < 0x80) ascii += c;
      else ascii += "\\x" + meta::hexadecimal(c);
    }
    return ascii;
  }

  struct level {
    json_value* value;
    std::unordered_set<std::string> keys;
    std::string key;
  };

  // Lines and columns (in bytes) count from one. The position is just after the wrong token.
  [[noreturn]] void refuse(std::string const& why) const {
    std::size_t line = 1;
    std::size_t column = 1;
    for (char const c : text_.substr(0, read_)) {
      column = c == '\n' ? 1 : column + 1;
      line += c == '\n' ? 1U : 0U;
    }
    throw error(exit_code::data, source_ + ":" + std::to_string(line) + ":" + std::to_string(column) + ": " + why +
                                     "; correct the file, or write it again with the program that made it");
  }

  void refuse_nul(std::string const& text) const {
    if (text.find('\0') != std::string::npos) refuse("a string contains NUL");
  }

  template <class T>
  json_value* add(T&& value) {
    if (++count_ > limits_.values) refuse("there are more than " + std::to_string(limits_.values) + " values");
    if (open_.empty()) {
      root_ = std::forward<T>(value);
      return &root_;
    }
    json_value& parent = *open_.back().value;
    if (parent.is_array()) return &parent.get_ref<json_value::array_t&>().emplace_back(std::forward<T>(value));
    // The base class appends without the search of ordered_map.
    using members = std::vector<std::pair<std::string const, json_value>>;
    auto& object = static_cast<members&>(parent.get_ref<json_value::object_t&>());
    return &object.emplace_back(std::move(open_.back().key), std::forward<T>(value)).second;
  }

  bool enter(json_value empty) {
    if (open_.size() == limits_.depth) refuse("objects and arrays nest deeper than " + std::to_string(limits_.depth));
    open_.push_back({add(std::move(empty)), {}, {}});
    return true;
  }

  bool leave() {
    open_.pop_back();
    return true;
  }

  std::string_view text_;
  std::string const& source_;
  json_limits limits_;
  std::size_t read_ = 0;
  std::size_t count_ = 0;
  json_value root_;
  // Values that are not closed yet. Each is the last member of its parent, so that its address
  // stays valid.
  std::vector<level> open_;
};

}  // namespace redco::json::detail
