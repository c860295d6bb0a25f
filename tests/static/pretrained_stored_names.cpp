// The table of a family's names is incomplete until its header is included. So nobody reads or
// writes its files with our names by mistake. A user's model needs no table.
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
#include <redco/model/stored_name.hpp>
#include <redco/model/t5.hpp>
#include <redco/model/vision_encoder_decoder.hpp>
#include <redco/model/vit.hpp>

namespace {

struct own_model {};

template <class... M>
inline constexpr int tables = (0 + ... + static_cast<int>(requires { sizeof(redco::models::stored_names<M>); }));

using namespace redco;
static_assert(tables<own_model> == 1);
static_assert(tables<bart, bert, redco::models::gemma, gpt2, gpt_neo, gptj, llama, opt, redco::models::gpt_neox,
                     redco::models::olmo2, redco::models::olmoe, redco::models::mixtral, redco::models::opt_post_norm,
                     roberta, t5, redco::models::t5_gated, redco::models::vision_encoder_decoder, vit> == 0);

}  // namespace
