// Pipeline stages compute whole sequences.
#include <redco/shard/legal.hpp>
#include <redco/model/gpt2.hpp>

constexpr redco::gpt2 model{{.vocab = 256, .context = 64, .width = 96, .heads = 6, .layers = 5}};

#if REDCO_ACCEPT
static_assert(redco::legal<model, redco::mesh{.cp = 3, .tp = 2}>{});
#else  // expect: redco[S011]
static_assert(redco::legal<model, redco::mesh{.pp = 2, .cp = 3}>{});
#endif

int main() {}
