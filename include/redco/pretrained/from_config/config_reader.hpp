#pragma once

#include <redco/json/dump.hpp>
#include <redco/json/value.hpp>
#include <redco/diag/error.hpp>
#include <redco/meta/nearest.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::pretrained {

/// A part of a model's computation, such as dropout, and the words by which the names of
/// config.json keys refer to it.
struct key_meaning {
  std::string_view words;  ///< Words in names of keys, separated by spaces
  std::string_view about;
  double neutral = 0;  ///< Number that changes nothing as the value of such a key
};

/// Table that maps words in the names of config.json keys to parts of the computation, for keys
/// that no model family reads. The first entry with a word of the key's name applies. A key without
/// any of these words does not change the computation.
inline constexpr key_meaning key_meanings[] = {
    {"quantization quantized quantize quant bits gptq awq bnb compression", "quantized weights"},
    {"rope rotary yarn ntk xpos mrope nope alibi position positions positional", "positions"},
    {"window windows sliding local sparse", "attention to some of the tokens"},
    {"attention attn head heads kv query queries key keys qk qkv gqa mqa causal bidirectional mask masked",
     "attention"},
    {"moe expert experts router routed routing", "a mixture of experts"},
    {"scale scales scaled scaling multiplier multipliers factor factors", "a factor on values", 1},
    {"cap capping softcap softcapping clip clamp logit logits", "a bound on values"},
    {"norm norms normalize normalized normalization layernorm rmsnorm eps epsilon", "norms"},
    {"bias biases", "biases"},
    {"activation act gelu relu silu glu swiglu geglu gated gate", "an activation function"},
    {"dropout dropouts drop pdrop layerdrop droppath", "dropout"},
    {"residual skip shared tie tied", "connections between layers"},
    {"adapter adapters lora", "adapters"},
    {"vision audio image video text encoder decoder backbone", "a part of a model"},
    {"prune pruned pruning sparsity", "removed weights"},
    {"layer layers depth block blocks hidden width dim dims size sizes inner ffn mlp intermediate embedding embeddings "
     "embed kernel stride conv",
     "sizes"}};

/// Returns true if a value of a config.json key requests nothing: null, false, 0, "", [], and an
/// object whose values all request nothing.
inline bool says_nothing(json::json_value const& value) {
  if (value.is_object()) return std::all_of(value.begin(), value.end(), says_nothing);
  return value.is_null() || value == false || value == "" || (value.is_array() ? value.empty() : value == 0);
}

/// Returns the part of the computation that a config.json key seems to change, for a key that no
/// model family read. Returns nullptr if the key's name or value shows that the key changes
/// nothing.
key_meaning const* meaning_of(std::string_view key, json::json_value const& value);

/// A reader of the keys of a config.json. Each model family asks for the keys that it knows. An
/// absent or null key has the default of the family's config class in transformers.
///
/// Throws `error` with exit code 65 ("source: key ...; cure") for contradictory or unsupported
/// values. `finish` throws for keys that no family asked for and that seem to change the
/// computation, and lists the other such keys in `unused`.
class config_reader {
 public:
  /// Maximum of any size in a config.json. The product of two sizes fits into 63 bits.
  static constexpr std::int64_t most = std::int64_t{1} << 28;

  /// Creates a reader of the JSON `object`, which must outlive the reader. `source` names the file
  /// in error messages.
  config_reader(json::json_value const& object, std::string source) : object_(object), source_(std::move(source)) {
    if (!object.is_object()) refuse("a model's configuration is a JSON object; give the config.json of a model");
  }

  [[noreturn]] void refuse(std::string const& why) const { throw error(exit_code::data, source_ + ": " + why); }
  std::string const& source() const { return source_; }

  /// Returns true if the config.json has this key, even with the value null.
  bool names(std::string_view key) const { return object_.contains(std::string(key)); }

  /// Returns the value of a key of the config.json, or nullptr if the key is absent or null. Marks
  /// the key as known to the model family.
  json::json_value const* find(std::string_view key) {
    known_.emplace_back(key);
    auto const at = object_.find(std::string(key));
    return at == object_.end() || at->is_null() ? nullptr : &*at;
  }

  /// Returns the value of a key as find() does, or nullptr if the value says nothing.
  json::json_value const* find_stated(std::string_view key) {
    json::json_value const* const value = find(key);
    return value == nullptr || says_nothing(*value) ? nullptr : value;
  }

  /// Returns a size from 1 to `most` that the config.json has under one of several synonymous keys.
  /// Returns `standard` if all these keys are absent.
  std::int64_t extent(std::initializer_list<std::string_view> names, std::int64_t standard) {
    return integer(names, standard, 1);
  }
  std::int64_t integer(std::initializer_list<std::string_view> names, std::int64_t standard, std::int64_t least) {
    std::optional<std::int64_t> found;
    std::string_view from;
    for (std::string_view const name : names) {
      json::json_value const* const value = find(name);
      if (value == nullptr) continue;
      // Every integer up to `most` is exact as a double, and programs also write 16 as 16.0.
      double const number = value->is_number() ? value->get<double>() : std::nan("");
      if (!(number >= static_cast<double>(least) && number <= static_cast<double>(most)) ||
          number != std::floor(number))
        refuse(is(name, *value) + "; write an integer from " + std::to_string(least) + " to " + std::to_string(most));
      auto const integral = static_cast<std::int64_t>(number);
      if (found && *found != integral)
        refuse(is(from, *found) + " and " + is(name, *value) +
               ", but both say the same of a model; remove the wrong one");
      found = integral;
      from = name;
    }
    return found.value_or(standard);
  }

  /// Returns the size under a key for which null, false and 0 mean "none", such as a window: 0 for
  /// none, or `standard` if the key is absent.
  std::int64_t extent_or_none(std::string_view name, std::int64_t standard) {
    if (!names(name)) return standard;
    return find_stated(name) == nullptr ? 0 : extent({name}, 0);
  }

  /// Returns two sizes, {rows, columns}, from a key of the config.json. The key holds one size for
  /// both, or a list of two sizes.
  std::array<std::int64_t, 2> rows_and_columns(std::string_view name, std::int64_t standard) {
    json::json_value const* const value = find(name);
    if (value == nullptr) return {standard, standard};
    std::array<std::int64_t, 2> found{};
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (value->is_array() && (value->size() != 2 || (*value)[i].is_null()))
        refuse(is(name, *value) + "; write a size, or a list of two");
      json::json_value const named = {{std::string(name), value->is_array() ? (*value)[i] : *value}};
      found[i] = config_reader(named, source_).extent({name}, standard);
    }
    return found;
  }

  /// Returns the number from `least` to `largest` under a key of the config.json, or `standard` if
  /// the key is absent.
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
    if (!value->is_boolean() && *value != 0 && *value != 1) refuse(is(name, *value) + "; write true or false");
    return *value == true || *value == 1;
  }

  /// Throws `error` with exit code 65 if the config.json has this key with a value other than
  /// `wanted`, because redco supports only `wanted`. If `wanted` says nothing, other values that
  /// say nothing are equal to it.
  void only(std::string_view name, json::json_value const& wanted) {
    json::json_value const* const value = says_nothing(wanted) ? find_stated(name) : find(name);
    bool const equal = value == nullptr || *value == wanted;
    if (!equal) refuse(is(name, *value) + ", which is not supported; only " + json::dump_json(wanted) + " is");
  }

  /// Marks keys of the config.json as unused, because they change neither sizes nor the
  /// computation.
  void skip(std::initializer_list<std::string_view> names) {
    for (std::string_view const name : names)
      if (this->names(name) && std::find(unused_.begin(), unused_.end(), name) == unused_.end())
        unused_.emplace_back(name);
  }
  /// Marks the unused keys of `part`, a reader of an object within this config.json, as unused,
  /// with `prefix` before their names.
  void skip(std::string const& prefix, config_reader const& part) {
    for (std::string const& name : part.unused()) unused_.push_back(prefix + name);
  }
  /// Returns the keys of the config.json that were passed to skip(). After a call of finish(), also
  /// returns the keys that no model family read.
  std::vector<std::string> const& unused() const { return unused_; }

  /// Returns the name of the transformers class whose computation the model reproduces. Empty until
  /// the model family calls computes().
  std::string const& architecture() const { return architecture_; }
  void computes(std::string_view architecture) { architecture_ = architecture; }

  /// Returns why redco cannot train the model, although it computes the model's outputs. Empty for
  /// models that can be trained.
  std::string const& untrainable() const { return untrainable_; }
  void cannot_train(std::string why) { untrainable_ = std::move(why); }

  /// Ends the reading of a config.json. Throws `error` with exit code 65 for keys that were not
  /// read and could change the computation. Marks all other keys that were not read as unused.
  void finish() {
    std::erase_if(unused_, [&](std::string const& key) { return among(known_, key); });
    for (auto const& [key, value] : object_.items()) {
      if (among(known_, key) || among(unused_, key)) continue;
      std::string const near = says_nothing(value) ? "" : meta::nearest(key, known_);
      key_meaning const* const meaning = meaning_of(key, value);
      if (meaning != nullptr)
        refuse(is(key, value) + ", which speaks of " + std::string(meaning->about) + " and is not computed here; " +
               (near.empty() ? "give a model without it, or remove it if it changes nothing"
                             : "did you mean " + quoted(near) + "?"));
      if (!near.empty() && meta::edit_distance(key, near) <= 1)
        refuse(quoted(key) + " is unknown; did you mean " + quoted(near) + "?");
      unused_.push_back(key);
    }
  }

  /// Throws `error` with exit code 65 if the config.json has a key that was not read and whose
  /// value is not null, false, "", {} or [].
  void refuse_unknown() const {
    for (auto const& [key, value] : object_.items())
      if (std::string const near = meta::nearest(key, known_);
          !among(known_, key) && !among(unused_, key) && !says_nothing(value))
        refuse(quoted(key) + " is unknown and could change what is computed; " +
               (near.empty() ? "remove it if it does not" : "did you mean " + quoted(near) + "?"));
  }

  std::string is(std::string_view name, json::json_value const& value) const {
    std::string text = value.dump(-1, ' ', true, json::json_value::error_handler_t::replace);
    if (text.size() > 60) text = text.substr(0, 57) + "...";
    return quoted(name) + " is " + text;
  }

 private:
  static bool among(std::vector<std::string> const& names, std::string const& key) {
    return std::find(names.begin(), names.end(), key) != names.end();
  }

  static std::string quoted(std::string_view name) {
    json::json_value const text = std::string(name.substr(0, 60));
    return text.dump(-1, ' ', true, json::json_value::error_handler_t::replace);
  }

  json::json_value const& object_;
  std::string source_;
  std::vector<std::string> known_;
  std::vector<std::string> unused_;
  std::string architecture_;
  std::string untrainable_;
};

}  // namespace redco::pretrained

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/pretrained/from_config/config_reader.inl.hpp>
#endif
