#pragma once

#include <redco/model/bart.hpp>
#include <redco/model/bert.hpp>
#include <redco/model/gemma.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/model/gpt_neo.hpp>
#include <redco/model/gpt_neox.hpp>
#include <redco/model/gptj.hpp>
#include <redco/model/llama.hpp>
#include <redco/model/mixtral.hpp>
#include <redco/model/olmo2.hpp>
#include <redco/model/olmoe.hpp>
#include <redco/model/opt.hpp>
#include <redco/model/t5.hpp>
#include <redco/model/vision_encoder_decoder.hpp>
#include <redco/model/vit.hpp>

#include <variant>

namespace redco::models {

/// Model types of the library that continue a text (decoders).
using decoders = std::variant<gpt2, gpt_neo, llama, olmo2, olmoe, mixtral, gemma, gptj, gpt_neox, opt, opt_post_norm>;

/// Model types of the library that read one text and generate another (encoder-decoders), as in
/// translation.
using encoder_decoders = std::variant<bart, t5, t5_gated>;

/// Model types of the library that can be read from a Hugging Face config.json, with any sizes.
using any_model = std::variant<gpt2, gpt_neo, llama, olmo2, olmoe, mixtral, gemma, gptj, gpt_neox, opt, opt_post_norm,
                               bart, t5, t5_gated, bert, roberta, vit, vision_encoder_decoder>;

}  // namespace redco::models
