#pragma once

#include <redco/pretrained/from_config/common_keys.hpp>
#include <redco/pretrained/from_config/config_reader.hpp>
#include <redco/pretrained/from_config/gpt2.hpp>
#include <redco/pretrained/from_config/vit.hpp>
#include <redco/model/vision_encoder_decoder.hpp>
#include <redco/json/value.hpp>

#include <string>
#include <string_view>

namespace redco::pretrained {

/// A reader that makes a ViT encoder with a GPT-2 decoder from the keys of a config.json. Each of
/// the two has a config.json of its own under the keys "encoder" and "decoder".
struct vision_encoder_decoder_from_config {
  static constexpr std::string_view name = "vision-encoder-decoder";

  static models::vision_encoder_decoder read(config_reader& c) {
    read_common_keys(c, {"VisionEncoderDecoderModel"}, true);
    json::json_value const encoder = part(c, "encoder", vit_from_config::name);
    json::json_value decoder = part(c, "decoder", gpt2_from_config::name);
    // Without this key, transformers makes a decoder that cannot read the encoder's output
    if (decoder.value("add_cross_attention", json::json_value()) != true)
      c.refuse("\"decoder\" does not have \"add_cross_attention\": true, so it could not read the image; add it");
    for (char const* const key : {"add_cross_attention", "is_decoder"}) decoder.erase(key);

    config_reader image(encoder, c.source() + ": encoder"), text(decoder, c.source() + ": decoder");
    image.find("model_type"), text.find("model_type");  // known
    text.only("cross_attention_hidden_size", nullptr);
    models::vision_encoder_decoder const model{
        {vit_from_config::read(image).config, gpt2_from_config::read(text).config}};
    c.skip("encoder.", image);
    c.skip("decoder.", text);
    // The class makes the key false. "decoder" says if the decoder's head is tied.
    c.skip({"tie_word_embeddings"});
    c.finish();
    return model;
  }

 private:
  /// Returns the configuration under `key`. Throws `error` with exit code 65 if it is missing or
  /// not of the model type `family`.
  static json::json_value part(config_reader& c, std::string_view key, std::string_view family) {
    json::json_value const* const found = c.find(key);
    if (found == nullptr || !found->is_object())
      c.refuse("\"" + std::string(key) + "\" is missing; it describes a part of the model");
    json::json_value const type = found->value("model_type", json::json_value());
    if (type != family)
      c.refuse("\"" + std::string(key) + "\" describes a model whose " + c.is("model_type", type) +
               ", which is not supported; only \"" + std::string(family) + "\" is");
    return *found;
  }
};

}  // namespace redco::pretrained
