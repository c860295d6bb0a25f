// BERT, RoBERTa and ViT as classifiers: number of parameters of the public models, splits, legal
// widths, messages, saved tensors.
#include "model_facts.hpp"

#include <redco/model/bert.hpp>
#include <redco/model/vit.hpp>

namespace {

using namespace model_facts;
using redco::extents;
using redco::fact::reason;

constexpr std::int64_t d = 1024, block = 12 * d * d + 13 * d;

// Three tables and their norm, the blocks, a pooler or a similar layer, two classes.
constexpr redco::bert bert_large{};
static_assert(numbers<bert_large>() == (30522 + 512 + 2) * d + 2 * d + 24 * block + d * d + d + 2 * d + 2);
static_assert(numbers<bert_large>() == 335'143'938);
constexpr redco::roberta roberta_large{};
static_assert(numbers<roberta_large>() == (50265 + 514 + 1) * d + 2 * d + 24 * block + d * d + d + 2 * d + 2);
static_assert(numbers<roberta_large>() == 355'361'794);
constexpr redco::bert bert_base{{.width = 768, .ffn = 3072, .heads = 12, .layers = 12}};
static_assert(numbers<bert_base>() == 109'483'778);

static_assert(part<bert_large>("embeddings.word_embeddings.weight", 4, reason::vocabulary) == extents{7631, 1024});
static_assert(at<bert_large>("embeddings.word_embeddings.weight", 4).logical(3) == extents{7629, 1024});
static_assert(part<bert_large>("embeddings.token_type_embeddings.weight", 4, reason::token_type) == extents{2, 1024});
static_assert(part<roberta_large>("embeddings.position_embeddings.weight", 4, reason::position) == extents{514, 1024});

// The Python original splits these on one side only, because all three are called "dense". They
// alternate here.
static_assert(part<roberta_large>("encoder.layer.*.attention.o.weight", 4, reason::row) == extents{1024, 256});
static_assert(part<roberta_large>("encoder.layer.*.intermediate.weight", 4, reason::column) == extents{1024, 1024});
static_assert(part<roberta_large>("encoder.layer.*.output.weight", 4, reason::row) == extents{1024, 1024});
static_assert(part<bert_large>("encoder.layer.*.attention.q.bias", 2, reason::column_bias) == extents{512});
static_assert(part<bert_large>("encoder.layer.*.attention.o.bias", 2, reason::row_bias) == extents{1024});

// The two linear layers of the head are such a pair too.
static_assert(part<bert_large>("pooler.dense.weight", 2, reason::column) == extents{512, 1024});
static_assert(part<bert_large>("classifier.weight", 2, reason::row) == extents{2, 512});
static_assert(part<roberta_large>("classifier.dense.bias", 4, reason::column_bias) == extents{256});
static_assert(part<roberta_large>("classifier.out_proj.bias", 4, reason::row_bias) == extents{2});

static_assert(legal_widths<bert_large>({1, 2, 4, 8, 16}) && legal_widths<roberta_large>({1, 2, 4, 8, 16}));
static_assert(legal_widths<bert_base>({1, 2, 3, 4, 6, 12}));
static_assert(reductions<bert_large>("encoder.layer.*", false, 24) == 2);
static_assert(reductions<bert_large>("encoder.layer.*", true, 24) == 2);
static_assert(reductions<bert_large>("", false) == 2 * 24 + 2 && reductions<roberta_large>("", true) == 2 * 24 + 1);

// Patches with their bias, the class token, a vector for each position, the blocks, the last norm,
// the classes.
constexpr redco::vit vit_large{};
static_assert(numbers<vit_large>() == (3 * 16 * 16 + 1) * d + d + 197 * d + 24 * block + 2 * d + 1000 * d + 1000);
static_assert(numbers<vit_large>() == 304'326'632);
static_assert(part<vit_large>("embeddings.patch_embeddings.weight", 4, reason::convolution) ==
              extents{1024, 3, 16, 16});
static_assert(part<vit_large>("embeddings.cls_token.weight", 4, reason::class_token) == extents{1024});
static_assert(part<vit_large>("embeddings.position_embeddings.weight", 4, reason::position) == extents{197, 1024});
static_assert(part<vit_large>("layer.*.attention.q.weight", 2, reason::heads) == extents{512, 1024});
static_assert(part<vit_large>("layer.*.output.weight", 4, reason::row) == extents{1024, 1024});
static_assert(part<vit_large>("classifier.weight", 4, reason::unpaired) == extents{1000, 1024});
static_assert(legal_widths<vit_large>({1, 2, 4, 8, 16}));
static_assert(reductions<vit_large>("", false) == 2 * 24 && reductions<vit_large>("", true) == 2 * 24);

/// Returns the shape of the tensor that `layer` saves under `slot` for two examples.
template <auto const& Model>
constexpr extents kept(std::string_view layer, std::string_view slot) {
  return tensor_at<Model>(layer, slot).shape;
}
static_assert(kept<vit_large>("embeddings.patch_embeddings", "pixels") == extents{2, 3, 224, 224});
static_assert(kept<vit_large>("embeddings.patch_embeddings", "patches") == extents{2, 196, 768});
static_assert(kept<vit_large>("layer.*.attention", "log_sum_exp") == extents{2, 16, 197});
static_assert(kept<vit_large>("classifier", "input") == extents{2, 1024});
static_assert(kept<bert_large>("pooler.dense", "input") == extents{2, 1024});
static_assert(kept<bert_large>("embeddings.token_type_embeddings", "types") == extents{2, 8});
static_assert(kept<bert_large>("embeddings.position_embeddings", "rows") == extents{});
static_assert(kept<roberta_large>("embeddings.position_embeddings", "rows") == extents{2, 8});

}  // namespace

int main() {}
