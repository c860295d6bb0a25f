#pragma once

#include <redco/compat/compat_split.hpp>
#include <redco/shape/extents.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace redco::compat::detail {

constexpr std::string_view last_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// Returns the key by which Redco for Python selects the splitting rule of a parameter: the last
/// two names of the path of a kernel, otherwise the last name.
constexpr std::string_view compat_key(std::string_view path) {
  std::string_view const last = last_name(path);
  if (last != "kernel" || last.size() == path.size()) return last;
  std::string_view const before = path.substr(0, path.size() - last.size() - 1);
  return path.substr(before.size() - last_name(before).size());
}

/// A comparison of two parameter paths, name by name. The separator "/" sorts before every
/// character of a name.
struct by_names {
  constexpr bool operator()(std::string_view a, std::string_view b) const {
    auto const rank_of = [](char c) { return c == '/' ? 0 : 1 + static_cast<unsigned char>(c); };
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                        [rank_of](char x, char y) { return rank_of(x) < rank_of(y); });
  }
};

/// Returns true if `piece` occurs in `text` between two separators; both ends of `text` count as
/// separators. Examples: "in" in "fc_in" with '_', "up/kernel" in "h/up/kernel" with '/'.
constexpr bool stands_in(std::string_view piece, std::string_view text, char separator) {
  for (std::size_t at = 0;; ++at) {
    std::string_view const rest = text.substr(at);
    if (rest.starts_with(piece) && (rest.size() == piece.size() || rest[piece.size()] == separator)) return true;
    at = text.find(separator, at);
    if (at == std::string_view::npos) return false;
  }
}

/// Returns true if a parameter's path contains "attention" or "attn", in upper or lower case.
constexpr bool names_attention(std::string_view path) {
  auto const same = [](char c, char small) { return c == small || ('A' <= c && c <= 'Z' && c - 'A' == small - 'a'); };
  auto const has = [path, same](std::string_view word) {
    return std::search(path.begin(), path.end(), word.begin(), word.end(), same) != path.end();
  };
  return has("attention") || has("attn");
}

/// A splitting rule of Redco for Python: its information about all parameters with an equal key
/// (the last names of the path), and its decision for them.
struct compat_rule {
  std::string_view key;
  int rank = 0;
  /// One flag per dimension: true if the extents of all parameters of the rule are multiples of the
  /// number of model shards.
  std::array<bool, extents::max_rank> divides{true, true, true, true, true, true};
  /// True if the path of every parameter of the rule contains "attention" or "attn".
  bool in_attention = true;
  /// Reason to replicate the rule's parameters independent of their extents; nullopt: no such
  /// reason.
  std::optional<compat_reason> whole{};
  compat_split decided{};
};

/// Returns the splitting rules of Redco for Python for these parameters and `n` model shards: one
/// undecided rule per key (the last names of a path), in name order.
constexpr std::vector<compat_rule> collect_compat_rules(std::span<compat_parameter const> parameters, int n) {
  std::vector<compat_rule> rules;
  for (compat_parameter const& p : parameters) {
    std::string_view const key = compat_key(p.path);
    auto at = std::lower_bound(rules.begin(), rules.end(), key,
                               [](compat_rule const& r, std::string_view k) { return by_names{}(r.key, k); });
    if (at == rules.end() || at->key != key) at = rules.insert(at, {.key = key, .rank = p.shape.rank});
    compat_rule& r = *at;
    if (last_name(key) != "kernel" && last_name(key) != "embedding") {
      r.whole = compat_reason::not_kernel_or_embedding;
    } else if (!r.whole && p.shape.rank != r.rank) {
      r.whole = compat_reason::ranks_differ;
    } else {
      for (int d = 0; d < p.shape.rank; ++d) {
        if (p.shape[d] % n == 0) continue;
        if (r.whole) {
          // The original has dropped the list to which it now writes
          r.whole = compat_reason::raises;
        } else {
          r.divides[static_cast<std::size_t>(d)] = false;
        }
      }
      r.in_attention = r.in_attention && names_attention(p.path);
    }
  }
  return rules;
}

/// Returns the first kind of layer (such as embedding or head) that Redco for Python recognizes in
/// the names of a rule, or `alternating` if there is none.
constexpr compat_reason special_name_of(compat_rule const& r) {
  std::string_view const name = r.key.substr(0, r.key.find('/'));
  auto const edge = [name](char c) { return name.starts_with(c) || name.ends_with(c); };
  auto const token = [name](std::string_view word) { return stands_in(word, name, '_'); };
  if (r.key == "embedding") return compat_reason::embedding;
  if (r.in_attention && (edge('q') || edge('k') || edge('v'))) return compat_reason::query_key_value;
  if (r.in_attention && edge('o')) return compat_reason::attention_output;
  if (name.starts_with("up") || name.starts_with("gate") || name.starts_with("wi") || token("in"))
    return compat_reason::widening;
  if (name.starts_with("down") || name.starts_with("wo") || token("out")) return compat_reason::narrowing;
  if (name.starts_with("head") || name.ends_with("head")) return compat_reason::head;
  return compat_reason::alternating;
}

/// Sets the decision of every splitting rule. Successive rules without a special name alternate
/// between dimensions, in name order instead of data-flow order.
constexpr void decide_compat_rules(std::span<compat_rule> rules) {
  int taken = -1;  // dimension taken by the preceding alternating rule
  for (compat_rule& r : rules) {
    std::vector<int> choices;  // dimensions that divide, the last one first
    for (int d = r.rank - 1; d >= 0; --d)
      if (r.divides[static_cast<std::size_t>(d)]) choices.push_back(d);
    if (choices.empty() || r.whole) {
      r.decided = {-1, r.whole.value_or(compat_reason::no_dimension_divides)};
      continue;
    }
    compat_reason const why = special_name_of(r);
    bool const first =
        why == compat_reason::embedding || why == compat_reason::attention_output || why == compat_reason::narrowing;
    int dim = first ? choices.back() : choices.front();
    if (why == compat_reason::alternating) {
      if (dim == taken && choices.size() > 1) dim = choices[1];
      taken = dim;
    }
    r.decided = {dim, why};
  }
}

}  // namespace redco::compat::detail
