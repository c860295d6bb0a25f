#include "from_config.hpp"

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

// Keys of the configurations of encoders, and of models with an encoder.

namespace from_config_test {

TEST_CASE("a T5 is gated or not, and its head tied or not") {
  auto const kind = [](std::string const& more) {
    std::string const t5 =
        R"("model_type": "t5", "vocab_size": 96, "d_model": 48, "d_ff": 96, "num_heads": 4, "d_kv": 12,
                              "num_layers": 2)";
    std::string found;
    redco::json::json_value const config = redco::json::parse_json("{" + t5 + more + "}", "c.json");
    redco::pretrained::model_from_config(config, "c.json", [&]<class M>(M const& m) {
      if constexpr (std::is_same_v<M, redco::t5>) found = "plain";
      if constexpr (std::is_same_v<M, redco::models::t5_gated>) found = "gated";
      if constexpr (requires { m.config.farthest; }) {
        if (m.config.tied) found += ", tied";
        if (m.config.activation == redco::layers::activation_kind::gelu_tanh) found += ", tanh";
      }
      return 0;
    });
    return found;
  };
  CHECK(kind("") == "plain, tied");
  CHECK(kind(R"(, "tie_word_embeddings": false)") == "plain");
  CHECK(kind(R"(, "scale_decoder_outputs": false)") == "plain");
  CHECK(kind(R"(, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": false)") == "gated, tanh");
  CHECK(kind(R"(, "feed_forward_proj": "gated-silu", "is_gated_act": true, "dense_act_fn": "silu")") == "gated, tied");
  std::string const t5 =
      R"("model_type": "t5", "vocab_size": 96, "d_model": 48, "d_ff": 96, "num_heads": 4, "d_kv": 12, "num_layers": 2)";
  CHECK(refusal(t5 + R"(, "dense_act_fn": "gelu_new")").find("name two functions") != std::string::npos);
  CHECK(refusal(t5 + R"(, "tie_word_embeddings": false, "scale_decoder_outputs": true)").find("correct one of them") !=
        std::string::npos);
}

TEST_CASE("a ViT reads images and patches that are not square") {
  auto const vit_with = [](std::string const& more) {
    return R"("model_type": "vit", "hidden_size": 48, "intermediate_size": 96, "num_attention_heads": 4,
              "num_hidden_layers": 2)" +
           more;
  };
  std::int64_t const d = 48, block = 4 * d * d + 2 * 96 * d + 4 * d + 96 + d + 4 * d;
  auto const numbers = [&](std::int64_t tokens, std::int64_t pixels) {
    return 2 * block + (tokens + 1) * d + d + 3 * pixels * d + d + 2 * d + 2 * d + 2;
  };
  CHECK(numbers_of(vit_with(R"(, "image_size": [24, 40], "patch_size": [8, 4])")) == numbers(3 * 10, 32));
  CHECK(numbers_of(vit_with(R"(, "image_size": [24, 40], "patch_size": 8)")) == numbers(3 * 5, 64));
  CHECK(numbers_of(vit_with(R"(, "image_size": [32, 32], "patch_size": [8, 8])")) ==
        numbers_of(vit_with(R"(, "image_size": 32, "patch_size": 8)")));
  CHECK(refusal(vit_with(R"(, "image_size": [24, 42], "patch_size": [8, 4])")).find("images of 42 pixels") !=
        std::string::npos);
  for (std::string const wrong : {"[24]", "[24, 40, 3]", "[24, null]", "[24, -1]", "\"24\"", "{}"})
    CHECK(refusal(vit_with(R"(, "image_size": )" + wrong)).find("\"image_size\" is ") != std::string::npos);
}

TEST_CASE("an encoder of images and a decoder of texts are read from their own configurations") {
  std::string const vit = R"("model_type": "vit", "image_size": 32, "patch_size": 16, "hidden_size": 20,
    "intermediate_size": 36, "num_attention_heads": 2, "num_hidden_layers": 1, "batch_size": 3)";
  std::string const reads = R"(, "n_inner": 40, "is_decoder": true, "add_cross_attention": true)";
  auto const with = [](std::string const& encoder, std::string const& decoder, std::string const& more = "") {
    return R"("model_type": "vision-encoder-decoder", "is_encoder_decoder": true, "decoder_start_token_id": 1,
      "encoder": {)" +
           encoder + R"(}, "decoder": {)" + decoder + "}" + more;
  };
  std::int64_t const v = 20, d = 48;
  std::int64_t const encoder = (4 + 1) * v + v + 3 * 16 * 16 * v + v + 4 * v * v + 4 * v + 2 * 36 * v + 36 + v + 6 * v;
  std::int64_t const block = 8 * d * d + 8 * d + 2 * 40 * d + 40 + d + 6 * d;
  std::int64_t const decoder = (97 + 48) * d + 2 * block + 2 * d;
  CHECK(numbers_of(with(vit, gpt2 + reads)) == encoder + (v + 1) * d + decoder);
  CHECK(numbers_of(with(vit, gpt2 + reads, R"(, "tie_word_embeddings": false)")) == encoder + (v + 1) * d + decoder);

  redco::json::json_value const config =
      redco::json::parse_json("{" + with(vit, gpt2 + reads + R"(, "summary_type": "x")") + "}", "c.json");
  redco::pretrained::config_reader reader(config, "c.json");
  reader.find("model_type");
  auto const model = redco::pretrained::vision_encoder_decoder_from_config::read(reader);
  CHECK((model.config.decoder.ffn() == 40 && model.config.encoder.ffn == 36));
  CHECK(reader.unused() ==
        std::vector<std::string>{"decoder_start_token_id", "encoder.batch_size", "decoder.summary_type"});

  auto const refuses = [&](std::string const& members, std::string const& why) {
    INFO(why);
    std::string const found = refusal(members);
    INFO(found);
    CHECK(found.find(why) != std::string::npos);
  };
  refuses(with(vit, gpt2), "\"decoder\" does not have \"add_cross_attention\": true");
  refuses(with(R"("model_type": "deit")", gpt2 + reads),
          R"("encoder" describes a model whose "model_type" is "deit", which is not supported; only "vit" is)");
  refuses(with(vit, llama + reads), R"("decoder" describes a model whose "model_type" is "llama")");
  refuses(R"("model_type": "vision-encoder-decoder", "is_encoder_decoder": true, "decoder": {})",
          "\"encoder\" is missing");
  refuses(with(vit, gpt2 + reads + R"(, "cross_attention_hidden_size": 20)"),
          "c.json: decoder: \"cross_attention_hidden_size\" is 20, which is not supported");
  refuses(with(vit + R"(, "qk_norm": true)", gpt2 + reads), "c.json: encoder: \"qk_norm\" is true");
  refuses(with(vit, gpt2 + reads, R"(, "num_image_tokens": 4)"), "\"num_image_tokens\" is 4, which speaks of");
  refuses(with(vit, gpt2 + reads, R"(, "architectures": ["Blip"])"), "VisionEncoderDecoderModel is");
}

TEST_CASE("a classifier's labels and an image's patches must agree with the rest") {
  std::string const sizes =
      R"("hidden_size": 48, "intermediate_size": 96, "num_attention_heads": 4, "num_hidden_layers": 2)";
  std::string const bert = R"("model_type": "bert", "vocab_size": 97, "max_position_embeddings": 32, )" + sizes;
  std::string const vit = R"("model_type": "vit", "image_size": 32, "patch_size": 16, )" + sizes;
  CHECK(numbers_of(bert) + 5 * 49 == numbers_of(bert + R"(, "num_labels": 7)"));
  CHECK(refusal(bert + R"(, "num_labels": 7, "id2label": {"0": "a"})") ==
        "c.json: \"id2label\" names 1 labels and \"num_labels\" says 7; correct one of them");
  CHECK(refusal(bert + R"(, "classifier_dropout": 0.3)").find("\"classifier_dropout\" is 0.3, another one than") !=
        std::string::npos);
  CHECK(refusal(bert + R"(, "pad_token_id": 97)").find("outside the vocabulary") != std::string::npos);
  CHECK(refusal(vit + R"(, "num_attention_heads": 5)").find("accepted") == std::string::npos);
  CHECK(refusal(R"("model_type": "vit", "image_size": 30, "patch_size": 16, )" + sizes).find("whole patches of 16") !=
        std::string::npos);
  CHECK(refusal(R"("model_type": "roberta", "vocab_size": 97, "max_position_embeddings": 2, )" + sizes)
            .find("leaves no row after") != std::string::npos);
}

}  // namespace from_config_test
