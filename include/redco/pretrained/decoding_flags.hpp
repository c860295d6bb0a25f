#pragma once

#include <redco/pretrained/generation_config.hpp>
#include <redco/meta/fields.hpp>

#include <redco/diag/error.hpp>

#include <cstdint>
#include <optional>

namespace redco::pretrained {

/// A set of command-line options for decoding, to be nested in a program's options. Options that
/// the user does not give keep the values of the model's folder.
struct decoding_flags {
  std::optional<std::int64_t> max_new_tokens = {}, top_k = {}, beams = {};
  std::optional<double> temperature = {}, top_p = {}, min_p = {}, repetition_penalty = {}, length_penalty = {};

  static constexpr auto fields() {
    using o = decoding_flags;
    return redco::fields(
        field<"max_new_tokens">(&o::max_new_tokens, "new tokens at most after each prompt; 64 if the folder sets none"),
        field<"temperature">(&o::temperature, "0: the most likely token, else draw"),
        field<"top_k">(&o::top_k, "draw from the k most likely; 0: from all"),
        field<"top_p">(&o::top_p, "draw from the fewest that have this probability together"),
        field<"min_p">(&o::min_p, "draw from those this many times as likely as the likeliest"),
        field<"repetition_penalty">(&o::repetition_penalty, "above 1: shun what is there already"),
        field<"beams">(&o::beams, "more than 1: search with so many beams instead of drawing"),
        field<"length_penalty">(&o::length_penalty,
                                "exponent of the length that divides a beam's score; above 1 favours long beams"));
  }

  /// Returns the decoding settings `folder` of a model's folder, overridden by the options that the
  /// user gave. Throws `error` with exit code 64 if options exclude each other.
  generation_config over(generation_config folder) const;
};

}  // namespace redco::pretrained

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/pretrained/decoding_flags.inl.hpp>
#endif
