// The error of a deep model is as short as the error of a shallow one: parameter, heads, mesh and
// legal widths.
#include <redco/cost/fits.hpp>
#include <redco/model/llama.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/shape/bytes.hpp>

constexpr redco::llama model{{.width = 5120, .ffn = 13824, .heads = 40, .kv_heads = 40, .layers = 48}};

#if REDCO_ACCEPT
static_assert(redco::fits<model, redco::adamw{.lr = 1e-3}, redco::mesh{.dp = 1, .tp = 8},
                          redco::workload{.batch = 1, .sequence = 256}, redco::GiB(40)>{});
#else  // expect: redco[S001] in 12 lines with blamed_parameter<40, redco::shard::legal_widths_are<1, 2, 4, 8>, 'l', 'a', 'y'
static_assert(redco::fits<model, redco::adamw{.lr = 1e-3}, redco::mesh{.dp = 1, .tp = 7},
                          redco::workload{.batch = 1, .sequence = 256}, redco::GiB(40)>{});
#endif

int main() {}
