#pragma once

#include <redco/pretrained/generate_options.hpp>

#include <cstdint>
#include <span>

namespace redco::generation::detail {

/// Returns the token id that the uniform random number `u` in [0, 1) draws from the logits
/// [vocabulary], after temperature, top_k, top_p and min_p. Ids keep their order; each covers an
/// interval of [0, 1) as wide as its probability. Among equal logits, top_p prefers the lower id.
/// The most likely id always remains, and an id with logit -inf is never drawn. Throws `error` with
/// exit code 79 if no logit is finite, or one is NaN or +inf.
std::int64_t draw(std::span<double const> logits, generate_options const& options, double u);

}  // namespace redco::generation::detail

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/generate/detail/draw.inl.hpp>
#endif
