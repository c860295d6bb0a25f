#pragma once

#include <redco/workdir/manifest.hpp>
#include <redco/safetensors/box.hpp>
#include <redco/safetensors/file_dtype.hpp>
#include <redco/safetensors/names.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>
#include <redco/diag/error.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace redco::workdir::detail {

/// An error with exit code 65 for a checkpoint in a format of a newer redco. Such a checkpoint is
/// not damaged, so a run does not rename it and does not continue from an older one.
struct newer_format : error {
  using error::error;
};

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

/// Largest accepted manifest, by bytes, depth of nesting and number of JSON values: enough for some
/// 200,000 parts of tensors.
inline constexpr json::json_limits manifest_limits{.bytes = 256u << 20, .depth = 16, .values = 4'000'000};

inline safetensors::stored_tensor read_stored_tensor(manifest_field const& field) {
  safetensors::stored_tensor tensor;
  std::string const type = field["dtype"].text();
  std::optional<safetensors::file_dtype> const known = safetensors::file_dtype_of(type);
  if (!known) field["dtype"].fail("is " + safetensors::shown(type) + ", no dtype that this redco knows");
  tensor.type = *known;
  tensor.shape = field["shape"].sizes();
  std::int64_t bytes = safetensors::size_of(tensor.type);
  for (std::int64_t const size : tensor.shape) {
    if (__builtin_mul_overflow(bytes, std::max<std::int64_t>(size, 1), &bytes)) field["shape"].fail("overflows");
  }
  for (manifest_field const& part : field["parts"].list()) {
    tensor.parts.push_back({part["file"].file_name(), part["offset"].sizes(), part["shape"].sizes(),
                            part.has("name") ? part["name"].text() : std::string()});
  }
  for (safetensors::tensor_part const& part : tensor.parts) {
    if (!safetensors::inside({part.offset, part.shape}, tensor.shape))
      field["parts"].fail("reaches outside the tensor");
  }
  return tensor;
}

/// Returns the mesh in a manifest's field, in the format of write_manifest(). The size of the axis
/// tp has the key `mp`, and the keys pp, ds, ep and cp may be absent.
inline mesh read_mesh(manifest_field const& field) {
  auto const extent = [](manifest_field const& of) {
    return static_cast<int>(of.whole_number(std::numeric_limits<int>::max()));
  };
  mesh m{.dp = extent(field["dp"]), .tp = extent(field["mp"])};
  if (field.has("pp")) m.pp = extent(field["pp"]);
  if (field.has("ds")) m.ds = extent(field["ds"]);
  if (field.has("ep")) m.ep = extent(field["ep"]);
  if (field.has("cp")) m.cp = extent(field["cp"]);
  return m;
}

/// Returns the manifest in `text` after checking its keys, types and names. `source` names the text
/// in error messages. Does not check that the parts cover each tensor, because one rank's manifest
/// lists only its own parts.
inline manifest parse_manifest(std::string_view text, std::string const& source) {
  json::json_value const value = json::parse_json(text, source, manifest_limits);
  manifest_field const top(value, "", source);
  manifest facts;
  facts.format = top["format"].count();
  if (facts.format == 0 || facts.format > manifest::newest_format) {
    std::string const why = source + " has checkpoint format " + std::to_string(facts.format) + "; redco " +
                            manifest().redco + " reads formats 1 to " + std::to_string(manifest::newest_format) +
                            ". Use the redco that wrote it, or a newer one.";
    if (facts.format == 0) throw error(exit_code::data, why);
    throw newer_format(exit_code::data, why);
  }
  facts.redco = top["redco"].text();
  facts.run = top["run"].file_name();
  facts.step = top["step"].count();
  facts.epoch = static_cast<int>(top["epoch"].whole_number(std::numeric_limits<int>::max()));
  facts.epoch_position = top["epoch_position"].count();
  facts.mesh = read_mesh(top["mesh"]);
  facts.rng = {top["rng"]["seed"].whole_number(), top["rng"]["step"].whole_number()};
  facts.data = {top["data"]["seed"].whole_number(), top["data"]["examples"].count()};
  top["best"].each([&](std::string const& metric, manifest_field const& field) {
    auto const pair = field.list();
    if (pair.size() != 2) field.fail("is not [value, step]");
    facts.best[metric] = {pair[0].number(), pair[1].count()};
  });
  // Earlier versions wrote format 2 without branch, patience, interrupted, updates and
  // digests.
  if (top.has("branch")) {
    manifest_field const branch = top["branch"];
    facts.branch = {branch["path"].text(), branch["step"].count()};
  }
  if (top.has("patience")) {
    manifest_field const patience = top["patience"];
    facts.patience = {patience["metric"].text(), patience["stale"].count()};
  }
  if (top.has("interrupted")) facts.interrupted = top["interrupted"].truth();
  if (top.has("updates"))
    top["updates"].each(
        [&](std::string const& name, manifest_field const& field) { facts.updates[name] = field.count(); });
  if (top.has("digests"))
    top["digests"].each(
        [&](std::string const& name, manifest_field const& field) { facts.digests[name] = field.text(); });
  if (facts.format > 1) {
    for (manifest_field const& name : top["names"].list()) facts.names.push_back(name.file_name());
    top["config"].each(
        [&](std::string const& name, manifest_field const& field) { facts.config[name] = field.text(); });
  }
  top["tensors"].each(
      [&](std::string const& name, manifest_field const& field) { facts.tensors[name] = read_stored_tensor(field); });
  top["files"].each([&](std::string const& name, manifest_field const& field) {
    if (!safetensors::plain_name(name)) field.fail("is not a plain file name");
    facts.files[name] = {field["bytes"].whole_number(), field["xxh64"].digest()};
  });
  return facts;
}

}  // namespace redco::workdir::detail
