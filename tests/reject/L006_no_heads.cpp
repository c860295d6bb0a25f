// Heads, widths and numbers of layers are at least one.
#include <redco/shard/legal.hpp>
#include <redco/model/gpt2.hpp>

#if REDCO_ACCEPT
constexpr redco::gpt2 model{{.width = 96, .heads = 6, .layers = 2}};
#else  // expect: redco[L006] in 9 lines with layer_has<0,
constexpr redco::gpt2 model{{.width = 96, .heads = 0, .layers = 2}};
#endif
static_assert(redco::legal<model, redco::mesh{.dp = 1, .tp = 2}>{});

int main() {}
