// The planned peak of one rank is larger than the budget.
#include <redco/cost/fits.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/shape/bytes.hpp>

constexpr redco::gpt2 model{{.vocab = 256, .context = 256, .width = 384, .heads = 6, .layers = 6}};

#if REDCO_ACCEPT
static_assert(redco::fits<model, redco::adamw{.lr = 1e-3}, redco::mesh{.dp = 1, .tp = 2},
                          redco::workload{.batch = 16, .sequence = 256}, redco::shape::MiB(512)>{});
#else  // expect: redco[C001]
static_assert(redco::fits<model, redco::adamw{.lr = 1e-3}, redco::mesh{.dp = 1, .tp = 2},
                          redco::workload{.batch = 16, .sequence = 256}, redco::shape::MiB(400)>{});
#endif

int main() {}
