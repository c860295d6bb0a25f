#include "catch.hpp"

#include "test_files.hpp"

#include <redco/pretrained/generation_config.hpp>
#include <redco/pretrained/pretrained.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>
#include <redco/diag/error.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace {

redco::pretrained::generation_config config_of(std::string const& members, bool whole = true) {
  return redco::pretrained::generation_config_of(redco::json::parse_json("{" + members + "}", "g.json"), "g.json",
                                                 whole);
}

std::string config_refusal(std::string const& members) {
  try {
    config_of(members);
  } catch (redco::error const& e) {
    CHECK(e.code() == redco::exit_code::data);
    return e.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("bart-large-cnn's generation_config.json is a search with all its settings") {
  redco::pretrained::generation_config const config = config_of(R"(
    "_from_model_config": true, "bos_token_id": 0, "decoder_start_token_id": 2, "early_stopping": true, "eos_token_id": 2,
    "forced_bos_token_id": 0, "forced_eos_token_id": 2, "length_penalty": 2.0, "max_length": 142, "min_length": 56,
    "no_repeat_ngram_size": 3, "num_beams": 4, "pad_token_id": 1, "transformers_version": "4.27.0.dev0")");
  redco::beam_options const search = config.search_options(1, 64);
  CHECK(search.beams == 4);
  CHECK(search.max_new_tokens == 141);
  CHECK(search.min_new_tokens == 55);
  CHECK(search.length_penalty == 2);
  CHECK(search.no_repeat_ngram == 3);
  CHECK(search.stop == redco::pretrained::beam_stop::when_full);
  CHECK(search.stop_ids == std::vector<std::int64_t>{2});
  CHECK(search.pad == 1);
  CHECK(search.forced_begin == 0);
  CHECK(search.forced_end == 2);
  CHECK(config.ids.start == 2);
  CHECK(config.unused == std::vector<std::string>{"_from_model_config", "transformers_version", "bos_token_id"});
}

TEST_CASE("a file that asks for sampling sets the sampling options") {
  redco::pretrained::generation_config config = config_of(
      R"("do_sample": true, "temperature": 0.6, "top_p": 0.9, "max_length": 4096, "eos_token_id": [5, 6], "pad_token_id": 0)");
  redco::generate_options const draws = config.sampling_options(7, 64);
  CHECK((draws.temperature == 0.6 && draws.top_p == 0.9 && draws.top_k == 50 && draws.max_new_tokens == 4089));
  CHECK((draws.pad == 0 && config.search.pad == 5 && config.search.beams == 1));
  config =
      config_of(R"("temperature": 0.6, "top_k": 9, "max_new_tokens": 30, "max_length": 20, "early_stopping": "never")");
  CHECK((config.sampling.temperature == 0 && config.sampling.top_k == 0));
  CHECK(config.unused == std::vector<std::string>{"temperature", "top_k"});
  CHECK(config.search_options(3, 64).max_new_tokens == 30);
  CHECK(config.search.stop == redco::pretrained::beam_stop::when_impossible);
  CHECK(config_of("").sampling_options(3, 64).max_new_tokens == 64);
}

TEST_CASE("an unsupported setting is refused by its name") {
  for (std::string const key : {"typical_p", "diversity_penalty", "guidance_scale", "encoder_no_repeat_ngram_size"})
    CHECK(config_refusal("\"" + key + "\": 0.5").starts_with("g.json: \"" + key + "\" is 0.5, which is not supported"));
  for (std::string const key : {"bad_words_ids", "suppress_tokens", "exponential_decay_length_penalty", "stop_strings"})
    CHECK(config_refusal("\"" + key + "\": [3]").starts_with("g.json: \"" + key + "\" is [3], which is not supported"));
  CHECK(config_refusal(R"("num_beams": 4, "do_sample": true)").find("\"num_beams\" with \"do_sample\"") !=
        std::string::npos);
  CHECK(config_refusal(R"("early_stopping": "soon")").find("write true, false or \"never\"") != std::string::npos);
  CHECK(config_refusal(R"("num_beems": 4)").find("did you mean \"num_beams\"?") != std::string::npos);
  CHECK(config_refusal(R"("typical_p": 1.0, "bad_words_ids": null, "renormalize_logits": false)") == "accepted");
  // An old config.json with decoding keys
  CHECK(config_of(R"("vocab_size": 9, "num_beams": 2)", false).search.beams == 2);
}

TEST_CASE("settings are read from folders as transformers 4 and 5 save them") {
  for (std::string const version : {"4.47", "5.23"}) {
    redco::pretrained::generation_config const config =
        redco::pretrained_folder(test_files() / "saved" / version / "bart").generation();
    CHECK((config.ids.stop == std::vector<std::int64_t>{2} && config.ids.forced_end == 2 && config.search.beams == 1));
  }
}

TEST_CASE("a max_length without room after the prompt is refused with its file and the option that helps") {
  auto const refused = [](std::string const& members, std::int64_t prompt) -> std::string {
    redco::pretrained::generation_config const config = config_of(members);
    try {
      std::int64_t const searched = config.search_options(prompt, 64).max_new_tokens;
      CHECK(searched == config.sampling_options(prompt, 64).max_new_tokens);
    } catch (redco::error const& e) {
      CHECK(e.code() == redco::exit_code::usage);
      CHECK_THROWS_AS(config.sampling_options(prompt, 64), redco::error);
      return e.what();
    }
    return "accepted";
  };
  CHECK(
      refused(R"("eos_token_id": 0, "max_length": 4)", 10) ==
      "g.json: \"max_length\" is 4, prompt and new tokens together, but the prompt has 10 tokens: give --max-new-tokens, or a "
      "larger \"max_length\"");
  CHECK(refused(R"("max_length": 4)", 4) != "accepted");
  CHECK(refused(R"("max_length": 4)", 3) == "accepted");
  CHECK(refused(R"("max_length": 4, "max_new_tokens": 2)", 10) == "accepted");
  CHECK(config_of(R"("max_length": 4)").sampling_options(3, 64).max_new_tokens == 1);
  CHECK(config_of(R"("min_length": 9, "max_length": 20)").sampling_options(4, 64).min_new_tokens == 5);
  CHECK(config_of(R"("min_length": 9, "max_length": 20)").search_options(12, 64).min_new_tokens == 0);
  CHECK(config_of(R"("min_length": 9, "min_new_tokens": 7)").search_options(4, 64).min_new_tokens == 7);
}

TEST_CASE("end ids may be one, several or none, and -1 means none") {
  CHECK(config_of(R"("eos_token_id": [7, 3])").ids.padding == 7);
  CHECK(config_of(R"("eos_token_id": [7, 3])").sampling.stop_ids == std::vector<std::int64_t>{7, 3});
  CHECK(config_of(R"("eos_token_id": [])").ids.stop.empty());
  CHECK(config_of(R"("eos_token_id": null, "pad_token_id": 4)").ids.padding == 4);
  CHECK(config_of(R"("eos_token_id": 5, "pad_token_id": -1)").ids.padding == 5);
  CHECK(config_of(R"("eos_token_id": -1)").ids.stop.empty());
  CHECK(config_refusal(R"("pad_token_id": -2)").find("\"pad_token_id\" is no id of a token") != std::string::npos);
  CHECK(config_refusal(R"("eos_token_id": 1.5)").find("\"eos_token_id\" is no id of a token") != std::string::npos);
}
