// Five blocks can be cut into 5 pipeline stages, not into 6.
#include <redco/cost/fits.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/shape/bytes.hpp>

constexpr redco::gpt2 model{{.vocab = 256, .context = 64, .width = 96, .heads = 6, .layers = 5}};

template <redco::mesh Mesh>
using job =
    redco::fits<model, redco::adamw{.lr = 1e-3}, Mesh, redco::workload{.batch = 2, .sequence = 64}, redco::GiB(1)>;

#if REDCO_ACCEPT
static_assert(job<redco::mesh{.pp = 5}>{});
#else  // expect: redco[S010]
static_assert(job<redco::mesh{.pp = 6}>{});
#endif

int main() {}
