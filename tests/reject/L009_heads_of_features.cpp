// All heads have the same number of features. The types in the message name the layer and both
// numbers.
#include <redco/shard/legal.hpp>
#include <redco/model/gpt2.hpp>

#if REDCO_ACCEPT
constexpr redco::gpt2 model{{.width = 96, .heads = 6, .layers = 2}};
#else  // expect: redco[L009] in 9 lines with layer_divides<100, 6,
constexpr redco::gpt2 model{{.width = 100, .heads = 6, .layers = 2}};
#endif
static_assert(redco::legal<model, redco::mesh{.dp = 1, .tp = 2}>{});

int main() {}
