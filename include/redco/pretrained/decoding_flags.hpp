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
        field<"max_new_tokens">(&o::max_new_tokens, "new tokens at most after each prompt; 64 if the folder sets none")
            .at_least(0)
            .in_group("decoding"),
        field<"temperature">(&o::temperature,
                             "divides the logits before a token is drawn; 0: takes the most likely token")
            .at_least(0)
            .in_group("decoding"),
        field<"top_k">(&o::top_k, "number of most likely tokens to draw from; 0: all").at_least(0).in_group("decoding"),
        field<"top_p">(&o::top_p, "draws from the fewest tokens with this total probability")
            .at_least(0)
            .at_most(1)
            .in_group("decoding"),
        field<"min_p">(&o::min_p, "draws from tokens with at least this share of the largest probability")
            .at_least(0)
            .at_most(1)
            .in_group("decoding"),
        field<"repetition_penalty">(
            &o::repetition_penalty,
            "divides the positive logits of ids that occurred, multiplies the negative ones; above 0, 1 changes nothing")
            .at_least(0)
            .in_group("decoding"),
        field<"beams">(&o::beams, "number of beams of a beam search; 1: no search").at_least(1).in_group("decoding"),
        field<"length_penalty">(
            &o::length_penalty,
            "exponent of the length that divides a beam's score, any number; above 1 favours long beams")
            .in_group("decoding"));
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
