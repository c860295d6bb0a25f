#pragma once

#include <redco/meta/enum_texts.hpp>

#include <string_view>

namespace redco::optimizer {

/// A norm of the gradient of all parameters on all ranks. `clip_norm` limits it, and a run reports
/// it as the gradient norm.
///
///   redco::adamw{.lr = 1e-3, .clip_norm = 0.1, .clip_kind = redco::optimizer::norm_kind::inf};
enum class norm_kind : unsigned char {
  l2,   ///< Square root of the sum of the squares of all elements
  inf,  ///< Largest magnitude of an element
};

inline constexpr auto norm_texts = meta::enum_texts<norm_kind>({{norm_kind::l2, "l2"}, {norm_kind::inf, "inf"}});
constexpr std::string_view name_of(norm_kind kind) { return norm_texts.text_of(kind); }

}  // namespace redco::optimizer
