#pragma once

#include <redco/safetensors/names.hpp>

#include <redco/json/value.hpp>
#include <redco/diag/error.hpp>

#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace redco::workdir::detail {

/// A JSON value in a checkpoint's manifest, with its path for error messages, such as
/// "tensors.h.0.weight.shape".
class manifest_field {
 public:
  manifest_field(json::json_value const& value, std::string path, std::string const& source)
      : value_(value), path_(std::move(path)), source_(source) {}

  [[noreturn]] void fail(std::string const& why) const {
    throw error(exit_code::data, source_ +
                                     " is not a valid manifest: " + (path_.empty() ? "it" : safetensors::shown(path_)) +
                                     " " + why + ". Resume from another checkpoint.");
  }

  manifest_field operator[](char const* key) const {
    if (!object().contains(key)) fail("has no \"" + std::string(key) + "\"");
    return {value_[key], path_.empty() ? key : path_ + "." + key, source_};
  }

  bool has(char const* key) const { return object().contains(key); }

  /// Calls `visit(key, field)` for each member of this field, which must be a JSON object.
  template <class Visit>
  void each(Visit visit) const {
    for (auto const& [key, value] : object().items()) {
      if (!safetensors::tensor_name(key)) fail("has a name that is empty, too long or has control characters");
      visit(key, manifest_field(value, path_ + "." + key, source_));
    }
  }

  std::vector<manifest_field> list() const {
    if (!value_.is_array()) fail("is not an array");
    std::vector<manifest_field> fields;
    for (std::size_t i = 0; i < value_.size(); ++i)
      fields.emplace_back(value_[i], path_ + "[" + std::to_string(i) + "]", source_);
    return fields;
  }

  std::string text() const {
    if (!value_.is_string()) fail("is not a string");
    return value_.get<std::string>();
  }

  bool truth() const {
    if (!value_.is_boolean()) fail("is neither true nor false");
    return value_.get<bool>();
  }

  std::uint64_t whole_number(std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) const {
    if (!value_.is_number_unsigned() || value_.get<std::uint64_t>() > most)
      fail(std::string("is not an unsigned integer of at most ").append(std::to_string(most)));
    return value_.get<std::uint64_t>();
  }

  /// Returns the field as a number from 0 to 2^53. Sums of such numbers do not overflow, and every
  /// JSON reader represents them exactly.
  std::int64_t count() const { return static_cast<std::int64_t>(whole_number(std::uint64_t{1} << 53)); }

  double number() const {
    if (!value_.is_number()) fail("is not a number");
    return value_.get<double>();
  }

  std::uint64_t digest() const {
    std::string const digits = text();
    std::uint64_t value = 0;
    auto const [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (digits.size() != 16 || failure != std::errc() || end != digits.data() + digits.size())
      fail("is not a hash of 16 hexadecimal digits");
    return value;
  }

  std::string file_name() const {
    std::string name = text();
    if (!safetensors::plain_name(name)) fail("is not a plain file name");
    return name;
  }

  std::vector<std::int64_t> sizes() const {
    std::vector<std::int64_t> all;
    for (manifest_field const& size : list()) all.push_back(size.count());
    return all;
  }

 private:
  json::json_value const& object() const {
    if (!value_.is_object()) fail("is not an object");
    return value_;
  }

  json::json_value const& value_;
  std::string path_;
  std::string const& source_;
};

}  // namespace redco::workdir::detail
