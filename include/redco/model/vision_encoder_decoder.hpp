#pragma once

#include <redco/model/gpt2.hpp>
#include <redco/model/model.hpp>
#include <redco/model/stored_name.hpp>
#include <redco/model/vit.hpp>
#include <redco/layer/attention.hpp>
#include <redco/layer/attention_traits.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/dropout.hpp>
#include <redco/layer/embeddings.hpp>
#include <redco/layer/encoder_decoder.hpp>
#include <redco/layer/language_head.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/norms.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>
#include <redco/shape/extents.hpp>

namespace redco::models {

/// The sizes and options of a ViT encoder and a GPT-2 decoder. `encoder.classes` has no effect,
/// because the encoder has no classifier.
struct vision_encoder_decoder_config {
  vit_config encoder;
  gpt2_config decoder;

  constexpr operator vit_config const&() const { return encoder; }
  constexpr operator gpt2_config const&() const { return decoder; }
};

/// A model that describes an image by a text: a ViT (Dosovitskiy et al. 2021) reads the image, and
/// a GPT-2 (Radford et al. 2019) writes. Each block of the decoder has an attention to all tokens
/// of the ViT between its other two branches. If encoder and decoder differ in width, a linear
/// layer with bias converts the encoder's output. The network's input is the text so far [B, T];
/// the context entry `encoder_input` is the images [B, channels, rows, columns].
struct vision_encoder_decoder {
  static constexpr auto width = gpt2::width;

  using encoder = layers::initialised<
      &vit_config::deviation,
      sequential<named<"embeddings", vit::embeddings>, named<"layer", repeat<vit::layers, vit::block>>,
                 named<"layernorm", vit::norm>, named<"enc_to_dec_proj", layers::projection<vit::width, width, true>>>>;
  using cross_attention_branch = residual<
      sequential<named<"ln_cross_attn", layer_norm<width, gpt2::epsilon>>,
                 named<"crossattention", cross_attention<width, gpt2::heads, layers::attention_dropout<gpt2::drop>,
                                                         layers::output_deviation<gpt2::branch_end>>>,
                 dropout<gpt2::drop>>>;
  using block = sequential<gpt2::attention_branch, cross_attention_branch, gpt2::mlp_branch>;
  using decoder =
      sequential<sum<named<"wte", embedding<gpt2::vocab, width>>, named<"wpe", positions<gpt2::context, width>>>,
                 dropout<gpt2::drop>, named<"h", repeat<gpt2::layers, block>>,
                 named<"ln_f", layer_norm<width, gpt2::epsilon>>>;
  using net = layers::initialised<&gpt2_config::deviation,
                                  sequential<layers::encoder_decoder<encoder, decoder>,
                                             layers::language_head<gpt2::vocab, width, "decoder.wte.weight">>>;

  /// Returns the shape of the images that the encoder reads.
  constexpr extents source(workload const& load) const { return vit{config.encoder}.input(load); }

  vision_encoder_decoder_config config;
};

/// A table of the names of the parameters in Hugging Face files, defined in
/// pretrained/stored_names/vision_encoder_decoder.hpp.
template <>
struct stored_names<vision_encoder_decoder>;

}  // namespace redco::models
