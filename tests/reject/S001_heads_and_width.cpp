// Six heads can be split over 1, 2, 3 or 6 ranks, not over 4.
#include <redco/shard/legal.hpp>
#include <redco/model/gpt2.hpp>

constexpr redco::gpt2 model{{.vocab = 256, .context = 256, .width = 384, .heads = 6, .layers = 6}};

#if REDCO_ACCEPT
static_assert(redco::legal<model, redco::mesh{.dp = 1, .tp = 3}>{});
#else  // expect: redco[S001]
static_assert(redco::legal<model, redco::mesh{.dp = 1, .tp = 4}>{});
#endif

int main() {}
