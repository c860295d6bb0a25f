#pragma once

#include <redco/pretrained/generate_options.hpp>

#include <cstdint>
#include <span>

namespace redco::detail {

/// The id that the uniform number u in [0, 1) picks among those that temperature, top_k, top_p and min_p leave of logits
/// [vocabulary]: ids in their order, each as wide as its probability. Of equally likely ids top_p takes the lower first;
/// the likeliest is always left, and what has -inf never drawn. Errors: exit code 79 where no logit is finite, or one is
/// NaN or +inf.
std::int64_t draw(std::span<double const> logits, generate_options const& options, double u);

}  // namespace redco::detail

#ifndef REDCO_COMPILED
#include <redco/generate/detail/draw.inl.hpp>
#endif
