// The width that one layer returns must be the width that the next one reads, also with an
// activation function between them.
#include <redco/shard/legal.hpp>
#include <redco/model/model.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/sequential.hpp>

template <int Read>
constexpr redco::model_of<redco::sequential<redco::linear<256, 128>, redco::relu, redco::linear<Read, 4>>> model{};

#if REDCO_ACCEPT
static_assert(redco::legal<model<128>, redco::mesh{.dp = 1, .tp = 2}>{});
#else  // expect: redco[L004] in 9 lines with layer_gives<128, '0'>, redco::shard::layer_reads<64, '2'>
static_assert(redco::legal<model<64>, redco::mesh{.dp = 1, .tp = 2}>{});
#endif

int main() {}
