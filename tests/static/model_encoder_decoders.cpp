// T5 with either feed-forward, BART, and ViT with GPT-2: number of parameters of the public models,
// splits, legal widths, messages, shared tables.
#include "model_facts.hpp"

#include <redco/shard/keep_replicated.hpp>
#include <redco/model/bart.hpp>
#include <redco/model/sequence_parallel.hpp>
#include <redco/model/t5.hpp>
#include <redco/model/vision_encoder_decoder.hpp>

namespace {

using namespace model_facts;
using redco::extents;
using redco::fact::reason;

/// Returns the number of parameters of a T5 of these sizes, with `matrices` in its feed-forward and
/// `tables` of the vocabulary.
constexpr std::int64_t t5_numbers(std::int64_t width, std::int64_t inner, std::int64_t ffn, std::int64_t heads,
                                  std::int64_t matrices, std::int64_t tables) {
  std::int64_t const attention = 4 * width * inner + width, feed_forward = matrices * width * ffn + width;
  return tables * 32128 * width + 24 * (3 * attention + 2 * feed_forward) + 2 * 32 * heads + 2 * width;
}
constexpr redco::t5 t5_11b{};
static_assert(numbers<t5_11b>() == t5_numbers(1024, 128 * 128, 65536, 128, 2, 1));
static_assert(numbers<t5_11b>() == 11'307'321'344);
constexpr redco::models::t5_gated t5_xxl{};
static_assert(numbers<t5_xxl>() == t5_numbers(4096, 64 * 64, 10240, 64, 3, 2));
static_assert(numbers<t5_xxl>() == 11'135'332'352);
constexpr redco::t5 t5_small{{.width = 512, .ffn = 2048, .heads = 8, .head_dim = 64, .layers = 6, .decoder_layers = 6}};
static_assert(numbers<t5_small>() == 60'506'624);

// One table for both sides and for a tied head. One bias by distance for each stack, split by
// heads.
static_assert(count<t5_11b>("encoder.embed_tokens.weight") == 1 && count<t5_11b>("decoder.embed_tokens.weight") == 0);
static_assert(count<t5_11b>("lm_head.weight") == 0 && count<t5_xxl>("lm_head.weight") == 1);
static_assert(part<t5_11b>("encoder.relative_attention_bias.weight", 4, reason::heads) == extents{32, 32});
static_assert(part<t5_xxl>("decoder.relative_attention_bias.weight", 2, reason::heads) == extents{32, 32});
static_assert(at<t5_11b>("decoder.relative_attention_bias.weight", 4).fact.copies() == 1);

static_assert(part<t5_11b>("encoder.block.*.SelfAttention.q.weight", 4, reason::heads) == extents{4096, 1024});
static_assert(part<t5_11b>("decoder.block.*.EncDecAttention.k.weight", 2, reason::heads) == extents{8192, 1024});
static_assert(part<t5_11b>("decoder.block.*.EncDecAttention.o.weight", 4, reason::row) == extents{1024, 4096});
static_assert(part<t5_11b>("encoder.block.*.DenseReluDense.wi.weight", 4, reason::column) == extents{16384, 1024});
static_assert(part<t5_11b>("encoder.block.*.DenseReluDense.wo.weight", 2, reason::row) == extents{1024, 32768});
static_assert(part<t5_xxl>("decoder.block.*.DenseReluDense.gate.weight", 4, reason::column) == extents{2560, 4096});
static_assert(part<t5_xxl>("decoder.block.*.DenseReluDense.up.weight", 2, reason::column) == extents{5120, 4096});
static_assert(part<t5_xxl>("decoder.block.*.DenseReluDense.wo.weight", 4, reason::row) == extents{4096, 2560});
static_assert(part<t5_xxl>("lm_head.weight", 4, reason::vocabulary) == extents{8032, 4096});
static_assert(legal_widths<t5_xxl>({1, 2, 4, 8, 16, 32, 64}));

// Scores have no factor, because q's initial weights include it.
using self_attention =
    redco::full_attention<64, 4, redco::layers::unscaled, redco::layers::biased<false>, redco::layers::distance_biased>;
static_assert(self_attention::scores(redco::no_config{}).scale == 1 &&
              !self_attention::form(redco::no_config{}).biases.o && self_attention::is_distance_biased);
static_assert(at<t5_xxl>("encoder.block.*.SelfAttention.q.weight", 1).fact.start.deviation == 1.0 / 64 / 8);
static_assert(at<t5_xxl>("encoder.block.*.SelfAttention.k.weight", 1).fact.start.deviation == 1.0 / 64);

// Two all-reduces in a block of the encoder, three in a block of the decoder. Backward has one more
// there, for the encoder's states.
static_assert(reductions<t5_xxl>("encoder.block.*", false, 24) == 2 &&
              reductions<t5_xxl>("encoder.block.*", true, 24) == 2);
static_assert(reductions<t5_xxl>("decoder.block.*", false, 24) == 3 &&
              reductions<t5_xxl>("decoder.block.*", true, 24) == 4);
static_assert(reductions<t5_11b>("", false) == 5 * 24 + 2 && reductions<t5_11b>("", true) == 6 * 24 + 1);

/// Returns the number of repeats around the event in which `layer` states `slot`.
template <auto const& Model>
constexpr int repeats_around(std::string_view layer, std::string_view slot) {
  redco::fact::program const p = redco::shard::facts_of<Model>();
  int open = 0;
  for (redco::fact::event const& e : p.events) {
    open += e.kind == redco::fact::event_kind::repeat;
    open -= e.kind == redco::fact::event_kind::repeat_end;
    if (e.slot == slot && p.layer_of(e) == layer) return open;
  }
  return -1;
}
// Fifteen distances between eight positions. All blocks read one bias.
static_assert(tensor_at<t5_xxl>("encoder", "bias").shape == extents{64, 15} &&
              tensor_at<t5_xxl>("encoder", "bias").split_dim == 0);
static_assert(repeats_around<t5_xxl>("encoder", "bias") == 0);
static_assert(tensor_at<t5_xxl>("decoder.block.*.SelfAttention", "distance_gradient").shape == extents{64, 15});
static_assert(tensor_at<t5_xxl>("decoder.block.*.EncDecAttention", "distance_gradient").shape == extents{});

// An override applies to a stack inside the bias by distance.
struct whole_feed_forward {
  using net = redco::shard::keep_replicated<redco::t5::net, "decoder.block.*.DenseReluDense">;
  redco::models::t5_config config;
};
constexpr whole_feed_forward overridden{};
static_assert(!at<overridden>("decoder.block.*.DenseReluDense.wi.weight", 4).is_split());
static_assert(part<overridden>("encoder.block.*.DenseReluDense.wi.weight", 4, reason::column) == extents{16384, 1024});

// One table of tokens, two of positions with two additional rows, three norms in a block of the
// decoder. The head has a bias that is loaded and not trained.
constexpr redco::bart bart_large{};
constexpr std::int64_t d = 1024, attention = 4 * d * d + 4 * d + 2 * d, feed_forward = 8 * d * d + 5 * d + 2 * d;
static_assert(numbers<bart_large>() == 50265 * d + 2 * 1026 * d + 2 * 2 * d + 12 * (3 * attention + 2 * feed_forward));
static_assert(numbers<bart_large>() == 406'291'456);
static_assert(!at<bart_large>("final_logits.bias", 1).fact.trained && count<bart_large>("final_logits.weight") == 0);
static_assert(part<bart_large>("final_logits.bias", 2, reason::vocabulary) == extents{25133});
static_assert(tensor_at<bart_large>("final_logits", "bias_gradient").shape == extents{});

// A vocabulary of 50265 rows: the last shard has padding.
static_assert(part<bart_large>("encoder.embed_tokens.weight", 2, reason::vocabulary) == extents{25133, 1024});
static_assert(at<bart_large>("encoder.embed_tokens.weight", 2).logical(1) == extents{25132, 1024});
static_assert(count<bart_large>("decoder.embed_tokens.weight") == 0);
static_assert(part<bart_large>("decoder.embed_positions.weight", 4, reason::position) == extents{1026, 1024});
static_assert(part<bart_large>("decoder.layers.*.encoder_attn.v.weight", 4, reason::heads) == extents{256, 1024});
static_assert(part<bart_large>("decoder.layers.*.fc2.weight", 4, reason::row) == extents{1024, 1024});
static_assert(legal_widths<bart_large>({1, 2, 4, 8, 16}));
static_assert(reductions<bart_large>("encoder.layers.*", false, 12) == 2);
static_assert(reductions<bart_large>("encoder.layers.*", true, 12) == 2);
static_assert(reductions<bart_large>("decoder.layers.*", false, 12) == 3);
static_assert(reductions<bart_large>("decoder.layers.*", true, 12) == 4);
static_assert(redco::models::bart_config{.scale_embedding = true}.embedding_factor() == 32);

// nlpconnect/vit-gpt2-image-captioning has 239,195,904 parameters, among them the ViT's pooler with
// 768 * 769. Equal widths need no projection.
constexpr redco::vit vit_base{{.width = 768, .ffn = 3072, .heads = 12, .layers = 12}};
constexpr redco::models::vision_encoder_decoder captioner{{vit_base.config, {}}};
static_assert(numbers<captioner>() == 239'195'904 - 768 * 769);
static_assert(count<captioner>("encoder.enc_to_dec_proj.weight") == 0);
static_assert(part<captioner>("decoder.h.*.crossattention.k.weight", 4, reason::heads) == extents{192, 768});
static_assert(part<captioner>("decoder.h.*.attn.k.weight", 4, reason::heads) == extents{192, 768});
static_assert(part<captioner>("encoder.layer.*.output.weight", 2, reason::row) == extents{768, 1536});
static_assert(part<captioner>("decoder.wte.weight", 2, reason::vocabulary) == extents{25129, 768});
static_assert(at<captioner>("decoder.h.*.crossattention.o.weight", 1).fact.start.deviation ==
              redco::models::gpt2_config{}.branch_end());
static_assert(legal_widths<captioner>({1, 2, 3, 4, 6, 12}));
static_assert(reductions<captioner>("encoder.layer.*", false, 12) == 2 &&
              reductions<captioner>("encoder.layer.*", true, 12) == 2);
static_assert(reductions<captioner>("decoder.h.*", false, 12) == 3 &&
              reductions<captioner>("decoder.h.*", true, 12) == 4);
// The encoder reads images, whatever the length of the text. A query attends to each of 197 tokens.
static_assert(redco::models::has_encoder<redco::models::vision_encoder_decoder::net>);
static_assert(redco::models::source_of(captioner, {2, 8, 5}) == extents{2, 3, 224, 224});
static_assert(redco::models::source_of(t5_11b, {2, 8, 5}) == extents{2, 5});
constexpr redco::models::sequence_parallel<redco::models::vision_encoder_decoder> by_tokens{captioner.config};
static_assert(redco::models::source_of(by_tokens, {2, 8, 5}) == extents{2, 3, 224, 224});
static_assert(tensor_at<captioner>("encoder.embeddings.patch_embeddings", "pixels").shape == extents{2, 3, 224, 224});
static_assert(tensor_at<captioner>("decoder.h.*.crossattention", "key_value").shape == extents{2, 197, 2 * 768});
static_assert(redco::models::context_of(captioner, 7) == 1024 && redco::models::context_of(t5_11b, 7) == 7);

constexpr redco::models::vision_encoder_decoder narrow{{{.image = 32, .width = 12, .ffn = 24, .heads = 3, .layers = 1},
                                                        {.vocab = 11, .width = 16, .heads = 4, .layers = 2}}};
static_assert(part<narrow>("encoder.enc_to_dec_proj.weight", 1, reason::declared) == extents{16, 12});
static_assert(part<narrow>("encoder.enc_to_dec_proj.bias", 1, reason::declared) == extents{16});
static_assert(part<narrow>("decoder.h.*.crossattention.v.weight", 1, reason::heads) == extents{16, 16});
static_assert(at<narrow>("decoder.h.*.crossattention.o.weight", 1).fact.start.deviation == 0.01);
static_assert(legal_widths<narrow>({1}));

}  // namespace

int main() {}
