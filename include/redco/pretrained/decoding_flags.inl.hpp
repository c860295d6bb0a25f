#pragma once

#include <redco/pretrained/decoding_flags.hpp>

#include <redco/config.hpp>

namespace redco::pretrained {

REDCO_INLINE generation_config decoding_flags::over(generation_config how) const {
  bool const filters = top_k || top_p || min_p, draws = temperature || filters;
  how.search.beams = beams.value_or(draws ? 1 : how.search.beams);
  how.sampling.temperature = temperature.value_or(how.sampling.temperature);
  if (draws && how.search.beams > 1)
    throw error(exit_code::usage,
                "a search with --beams draws nothing: leave out --temperature, --top-k, --top-p and --min-p, or take "
                "--beams 1");
  if (filters && how.sampling.temperature == 0)
    throw error(exit_code::usage,
                "--top-k, --top-p and --min-p limit the draw of tokens, but nothing is drawn: give --temperature");
  if (length_penalty && how.search.beams == 1)
    throw error(exit_code::usage, "--length-penalty judges beams, but there is one: give --beams");
  how.sampling.top_k = top_k.value_or(how.sampling.top_k);
  how.sampling.top_p = top_p.value_or(how.sampling.top_p);
  how.sampling.min_p = min_p.value_or(how.sampling.min_p);
  how.search.length_penalty = length_penalty.value_or(how.search.length_penalty);
  how.search.repetition_penalty = how.sampling.repetition_penalty =
      repetition_penalty.value_or(how.sampling.repetition_penalty);
  if (max_new_tokens) how.max_new_tokens = max_new_tokens;
  return how;
}

}  // namespace redco::pretrained
