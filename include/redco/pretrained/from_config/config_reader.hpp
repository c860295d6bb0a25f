#pragma once

#include <redco/json/dump.hpp>
#include <redco/json/value.hpp>

#include <redco/diag/error.hpp>
#include <redco/meta/nearest.hpp>

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redco {

/// The keys of a config.json, each asked for once by the family that knows it. What is missing, contradictory or not
/// computed here is refused, and `finish` refuses every key that nobody asked for, so that no number comes from a
/// configuration that was only half understood. null is the same as absent.
///
/// Errors: exit_code::data, "source: key ...; cure".
class config_reader {
 public:
  /// No size of a model is larger; products of two fit into 63 bits with room to spare.
  static constexpr std::int64_t most = std::int64_t{1} << 28;

  /// `object` and `source` must outlive the reader.
  config_reader(json::json_value const& object, std::string source) : object_(object), source_(std::move(source)) {
    if (!object.is_object()) refuse("a model's configuration is a JSON object; give the config.json of a model");
  }

  [[noreturn]] void refuse(std::string const& why) const { throw error(exit_code::data, source_ + ": " + why); }
  std::string const& source() const { return source_; }

  /// Whether a key is there, be it null.
  bool names(std::string_view key) const { return object_.contains(std::string(key)); }

  /// The value of a key, or nullptr where it is absent or null.
  json::json_value const* find(std::string_view key) {
    known_.emplace_back(key);
    auto const at = object_.find(std::string(key));
    return at == object_.end() || at->is_null() ? nullptr : &*at;
  }

  /// A size from 1 to `most`, under any of the names that mean the same. Without a standard it must be there.
  std::int64_t extent(std::initializer_list<std::string_view> names, std::optional<std::int64_t> const& standard = {}) {
    return integer(names, standard, 1);
  }
  std::int64_t integer(std::initializer_list<std::string_view> names, std::optional<std::int64_t> const& standard,
                       std::int64_t least) {
    std::optional<std::int64_t> found;
    std::string_view from;
    for (std::string_view const name : names) {
      json::json_value const* const value = find(name);
      if (value == nullptr) continue;
      bool const fits = value->is_number_unsigned() ? value->get<std::uint64_t>() <= static_cast<std::uint64_t>(most)
                                                    : value->is_number_integer() && value->get<std::int64_t>() <= most;
      if (!fits || value->get<std::int64_t>() < least)
        refuse(is(name, *value) + "; write an integer from " + std::to_string(least) + " to " + std::to_string(most));
      if (found && *found != value->get<std::int64_t>())
        refuse(is(from, *found) + " and " + is(name, *value) +
               ", but both say the same of a model; remove the wrong one");
      found = value->get<std::int64_t>();
      from = name;
    }
    if (!found && !standard) refuse(quoted(*names.begin()) + " is missing; add it, no size is guessed");
    return found ? *found : *standard;
  }

  /// A number from `least` to `largest`.
  double real(std::string_view name, double standard, double least, double largest) {
    json::json_value const* const value = find(name);
    if (value == nullptr) return standard;
    double const number = value->is_number() ? value->get<double>() : std::nan("");
    if (!(number >= least && number <= largest))
      refuse(is(name, *value) + "; write a number from " + json::dump_json(least) + " to " + json::dump_json(largest));
    return number;
  }

  bool flag(std::string_view name, bool standard) {
    json::json_value const* const value = find(name);
    if (value == nullptr) return standard;
    if (!value->is_boolean()) refuse(is(name, *value) + "; write true or false");
    return value->get<bool>();
  }

  /// A key that may be there only with this value, because nothing else is computed.
  void only(std::string_view name, json::json_value const& wanted) {
    json::json_value const* const value = find(name);
    bool const equal = value == nullptr || *value == wanted;
    if (!equal) refuse(is(name, *value) + ", which is not supported; only " + json::dump_json(wanted) + " is");
  }

  /// Keys that change neither sizes nor what is computed.
  void skip(std::initializer_list<std::string_view> names) {
    for (std::string_view const name : names) {
      known_.emplace_back(name);
      if (this->names(name)) unused_.emplace_back(name);
    }
  }
  /// Those of them that are there.
  std::vector<std::string> const& unused() const { return unused_; }

  /// Refuses keys that nobody asked for.
  void finish() const {
    for (auto const& [key, value] : object_.items()) {
      bool known = false;
      for (std::string const& name : known_) known = known || name == key;
      if (known) continue;
      std::string const near = meta::nearest(key, known_);
      refuse(quoted(key) + " is unknown and could change what is computed; " +
             (near.empty() ? "remove it if it does not" : "did you mean " + quoted(near) + "?"));
    }
  }

  std::string is(std::string_view name, json::json_value const& value) const {
    std::string text = value.dump(-1, ' ', true, json::json_value::error_handler_t::replace);
    if (text.size() > 60) text = text.substr(0, 57) + "...";
    return quoted(name) + " is " + text;
  }

 private:
  static std::string quoted(std::string_view name) {
    json::json_value const text = std::string(name.substr(0, 60));
    return text.dump(-1, ' ', true, json::json_value::error_handler_t::replace);
  }

  json::json_value const& object_;
  std::string source_;
  std::vector<std::string> known_;
  std::vector<std::string> unused_;
};

}  // namespace redco
