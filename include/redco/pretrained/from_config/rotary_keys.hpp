#pragma once

#include <redco/pretrained/from_config/config_reader.hpp>
#include <redco/layer/attention_traits.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace redco::pretrained {

/// The keys of rotary positions that differ between model families.
struct rotary_key_names {
  std::string_view theta = "";  ///< Another key with the meaning of "rope_theta"; empty: none
  /// Key of the rotated share of each head's features, another one than "partial_rotary_factor" or
  /// the same; empty: all features are rotated
  std::string_view share = "";
  double standard_share = 1;  ///< Rotated share if no key has it
  /// Length in training if the key "original_max_position_embeddings" is absent; 0: the context
  std::int64_t original = 0;
  /// True for Phi-3, which knows only "longrope", also by its older names "su" and "yarn"
  bool only_longrope = false;
};

}  // namespace redco::pretrained

namespace redco::pretrained::detail {

/// Returns the kind of rotary frequencies that the object `inner` names. Throws `error` with exit
/// code 65 if it names an unknown kind, or two different kinds.
inline layers::rotary_kind read_rotary_kind(config_reader& inner, rotary_key_names const& names) {
  using enum layers::rotary_kind;
  struct named_kind {
    std::string_view name;
    layers::rotary_kind kind;
  };
  constexpr named_kind all[] = {{"default", standard}, {"linear", linear},     {"dynamic", dynamic},
                                {"yarn", yarn},        {"longrope", longrope}, {"llama3", llama3}};
  json::json_value const *kind = inner.find("rope_type"), *const older = inner.find("type");
  if (kind != nullptr && older != nullptr && *kind != *older)
    inner.refuse(inner.is("rope_type", *kind) + " and " + inner.is("type", *older) +
                 ", but both name the kind of positions; remove the wrong one");
  if (kind == nullptr) kind = older;
  if (kind == nullptr) return standard;
  if (names.only_longrope && (*kind == "su" || *kind == "yarn")) return longrope;
  std::string list;
  for (named_kind const& one : all) {
    if (names.only_longrope && one.kind != standard && one.kind != longrope) continue;
    if (*kind == one.name) return one.kind;
    list += (list.empty() ? "\"" : ", \"") + std::string(one.name) + "\"";
  }
  inner.refuse(inner.is("rope_type", *kind) + ", which is not supported; supported are " + list);
}

/// A number that several keys of a config.json may have. They must agree.
struct agreed_number {
  double value = 0;
  bool said = false;

  /// Reads the number from `least` to `largest` under `key`, if `c` has it. Throws `error` with
  /// exit code 65 if it differs from the number of another key.
  void read(config_reader& c, std::string_view key, double least, double largest) {
    if (key.empty() || c.find(key) == nullptr) return;
    double const found = c.real(key, value, least, largest);
    if (said && found != value)
      c.refuse("two different \"" + std::string(key) + "\" are given: " + json::dump_json(found) + " here and " +
               json::dump_json(value) + " under another key; remove the wrong one");
    value = found;
    said = true;
  }
};

/// Returns the number that `inner` must have under the key `name`.
inline double required_real(config_reader& inner, std::string_view name, double least) {
  if (inner.find(name) == nullptr)
    inner.refuse("\"" + std::string(name) + "\" is missing, without which angles cannot be stretched; add it");
  return inner.real(name, 0, least, 1e6);
}

/// Returns the factor on rotated queries and keys that `inner` has under "attention_factor", or
/// `standard` if it has none.
inline double read_amplitude(config_reader& inner, double standard) {
  return inner.real("attention_factor", standard, 1e-6, 1e6);
}

/// Reads the keys of "yarn" (Peng et al. 2023) except the factor and the length in training.
inline void read_yarn_keys(config_reader& inner, layers::rotary_scaling& s) {
  s.high_frequency = inner.real("beta_fast", 32, 1e-6, 1e6);
  s.low_frequency = inner.real("beta_slow", 1, 1e-6, 1e6);
  s.whole_pairs = inner.flag("truncate", true);
  auto const grown = [&](double scale) { return s.factor <= 1 ? 1 : 0.1 * scale * std::log(s.factor) + 1; };
  double const scale = inner.real("mscale", 0, 0, 1e6), all_dims = inner.real("mscale_all_dim", 0, 0, 1e6);
  s.amplitude = read_amplitude(inner, scale > 0 && all_dims > 0 ? grown(scale) / grown(all_dims) : grown(1));
}

/// Reads the `pairs` divisors under the key `name`.
inline layers::rotary_divisors read_divisors(config_reader& inner, std::string_view name, std::int64_t pairs) {
  json::json_value const* const list = inner.find(name);
  layers::rotary_divisors divisors;
  auto const count = static_cast<std::size_t>(pairs);
  bool const fits = list != nullptr && list->is_array() && list->size() == count && count <= divisors.capacity &&
                    std::all_of(list->begin(), list->end(),
                                [](json::json_value const& one) { return one.is_number() && one.get<double>() > 0; });
  if (!fits)
    inner.refuse("\"" + std::string(name) + "\" must be a list of " + std::to_string(pairs) +
                 " positive numbers, one per pair of rotated features, and at most " +
                 std::to_string(divisors.capacity) + "; correct the list");
  for (json::json_value const& one : *list) divisors.values[divisors.count++] = one.get<float>();
  return divisors;
}

/// Reads the keys of "longrope" (Ding et al. 2024) except the length in training. `context`: the
/// model's context length.
inline void read_longrope_keys(config_reader& inner, layers::rotary_scaling& s, std::int64_t dims,
                               std::int64_t context) {
  s.divisors = read_divisors(inner, "short_factor", dims / 2);
  s.long_divisors = read_divisors(inner, "long_factor", dims / 2);
  auto const original = static_cast<double>(s.context);
  double const ratio = static_cast<double>(context) / original, factor = inner.real("factor", ratio, 1e-6, 1e6);
  bool const said = inner.find("attention_factor") != nullptr;
  if (!said && ratio != 1 && factor != ratio)
    inner.refuse(inner.is("factor", factor) + ", but the context is " + json::dump_json(ratio) +
                 " times the length in training; make them equal, or add \"attention_factor\"");
  s.amplitude = read_amplitude(inner, factor <= 1 ? 1 : std::sqrt(1 + std::log(factor) / std::log(original)));
}

}  // namespace redco::pretrained::detail

namespace redco::pretrained {

/// Reads the keys of rotary positions from a config.json, at the top level or in the nested object
/// "rope_parameters" or "rope_scaling". Sets the config's `theta`, `scaling` and `context`, which a
/// scaling extends. Returns the number of rotated features of a head of `head_dim` features.
///
/// Throws `error` with exit code 65 for unknown kinds and keys, and for missing or contradictory
/// values.
template <class Config>
std::int64_t read_rotary_keys(config_reader& c, Config& g, std::int64_t head_dim, rotary_key_names const& names = {}) {
  using enum layers::rotary_kind;
  double const largest = 1e12;
  detail::agreed_number theta{g.theta}, share{names.standard_share};
  theta.read(c, "rope_theta", 1, largest);
  theta.read(c, names.theta, 1, largest);
  std::int64_t const original = c.extent({"original_max_position_embeddings"}, names.original);
  json::json_value const* const parameters = c.find_stated("rope_parameters");
  json::json_value const* const older = c.find_stated("rope_scaling");
  if (parameters != nullptr && older != nullptr)
    c.refuse("\"rope_parameters\" and \"rope_scaling\" say the same of a model; remove the wrong one");
  json::json_value const none = json::json_value::object();
  config_reader inner(parameters != nullptr ? *parameters
                      : older != nullptr    ? *older
                                            : none,
                      c.source() + (parameters != nullptr ? ": rope_parameters" : ": rope_scaling"));
  theta.read(inner, "rope_theta", 1, largest);
  g.theta = theta.value;
  share.read(c, names.share, 0, 1);
  for (config_reader* const from : {&c, &inner}) {
    if (names.share.empty()) from->only("partial_rotary_factor", 1.0);
    else share.read(*from, "partial_rotary_factor", 0, 1);
  }
  auto const dims = static_cast<std::int64_t>(static_cast<double>(head_dim) * share.value);
  if (dims < 2 || dims % 2 != 0)
    c.refuse("heads have " + std::to_string(dims) +
             " rotated features, which rotary positions cannot pair; make them even");

  layers::rotary_scaling& s = g.scaling;
  s.kind = detail::read_rotary_kind(inner, names);
  if (s.kind == standard) {
    inner.finish();
    return dims;
  }
  s.context = original > 0 ? original : g.context;
  if (s.kind != longrope) s.factor = detail::required_real(inner, "factor", 1);
  if (s.kind == yarn || s.kind == longrope || s.kind == llama3) {
    std::int64_t const length = inner.extent({"original_max_position_embeddings"}, s.context);
    if (original > 0 && c.names("original_max_position_embeddings") && length != original)
      c.refuse("two different \"original_max_position_embeddings\" are given; remove the wrong one");
    s.context = length;
  } else {
    // Linear positions do not depend on the length in training.
    if (s.kind == linear) inner.extent({"original_max_position_embeddings"}, g.context);
    else inner.only("original_max_position_embeddings", g.context);
    s.context = g.context;
  }
  if (s.kind == dynamic && dims == 2) c.refuse("\"dynamic\" positions need at least 4 rotated features per head");
  if (s.kind == yarn) detail::read_yarn_keys(inner, s);
  if (s.kind == longrope) detail::read_longrope_keys(inner, s, dims, g.context);
  if (s.kind == llama3) {
    s.low_frequency = detail::required_real(inner, "low_freq_factor", 1e-6);
    s.high_frequency = detail::required_real(inner, "high_freq_factor", 1e-6);
  }
  inner.finish();
  g.context = std::max(g.context, static_cast<std::int64_t>(s.factor * static_cast<double>(s.context)));
  return dims;
}

}  // namespace redco::pretrained
