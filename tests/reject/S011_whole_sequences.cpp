// A GRU reads one token after another, so that ranks along cp cannot compute parts of sequences.
#include <redco/cost/fits.hpp>
#include <redco/model/model.hpp>
#include <redco/layer/recurrent.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/shape/bytes.hpp>

constexpr redco::model_of<redco::sequential<redco::embedding<20, 8>, redco::gru<8, 8>>> model{};

template <redco::mesh Mesh>
using job =
    redco::fits<model, redco::adamw{.lr = 1e-3}, Mesh, redco::workload{.batch = 2, .sequence = 64}, redco::GiB(1)>;

#if REDCO_ACCEPT
static_assert(job<redco::mesh{.dp = 2}>{});
#else  // expect: redco[S011]
static_assert(job<redco::mesh{.cp = 2}>{});
#endif

int main() {}
