#pragma once

#include <redco/generate/detail/check_options.hpp>

#include <redco/diag/error.hpp>
#include <redco/config.hpp>

#include <cmath>
#include <cstdint>
#include <sstream>
#include <string>

namespace redco::generation::detail {

template <class T>
void check_option(bool legal, char const* name, T value, std::string const& range) {
  if (legal) return;
  std::ostringstream text;
  text << "decoding cannot work with " << name << " = " << value << ": give " << range;
  throw error(exit_code::usage, text.str());
}

/// Checks the options that generate() and beam_search() have in common. Throws `error` with exit
/// code 64 if one is out of range.
template <class Options>
void check_rules(Options const& o) {
  check_option(std::isfinite(o.repetition_penalty) && o.repetition_penalty > 0, "repetition_penalty",
               o.repetition_penalty, "a finite number above 0; 1 is none");
  check_option(o.no_repeat_ngram >= 0, "no_repeat_ngram", o.no_repeat_ngram, "0 or more; 0 is none");
  check_option(o.min_new_tokens >= 0, "min_new_tokens", o.min_new_tokens, "0 or more");
  check_option(o.forced_begin >= -1, "forced_begin", o.forced_begin, "an id of the vocabulary, or -1 for none");
  check_option(o.forced_end >= -1, "forced_end", o.forced_end, "an id of the vocabulary, or -1 for none");
}

REDCO_INLINE void check_options(generate_options const& o) {
  check_option(o.max_new_tokens >= 0, "max_new_tokens", o.max_new_tokens, "0 or more");
  check_option(std::isfinite(o.temperature) && o.temperature >= 0, "temperature", o.temperature,
               "a finite number, at least 0; 0 takes the most likely token");
  check_option(o.top_k >= 0, "top_k", o.top_k, "0 or more; 0 is all tokens");
  check_option(o.top_p > 0 && o.top_p <= 1, "top_p", o.top_p, "a number above 0 and at most 1; 1 is all tokens");
  check_option(o.min_p >= 0 && o.min_p <= 1, "min_p", o.min_p, "a number from 0 to 1; 0 is all tokens");
  check_rules(o);
}

REDCO_INLINE void check_options(beam_options const& o) {
  check_option(o.max_new_tokens >= 1, "max_new_tokens", o.max_new_tokens, "1 or more");
  check_option(o.beams >= 1, "beams", o.beams, "1 or more");
  check_option(o.results >= 1 && o.results <= o.beams, "results", o.results,
               "1 to " + std::to_string(o.beams) + ", the beams");
  check_option(std::isfinite(o.length_penalty), "length_penalty", o.length_penalty, "a finite number");
  check_rules(o);
}

}  // namespace redco::generation::detail
