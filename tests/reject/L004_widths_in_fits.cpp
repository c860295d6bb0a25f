// fits<> prints only this error. Here a residual branch returns another width than its input has.
#include <redco/cost/fits.hpp>
#include <redco/model/model.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>
#include <redco/optimizer/optimizers.hpp>

template <int Width>
using branch = redco::residual<redco::sequential<redco::named<"up", redco::linear<12, 40>>, redco::gelu,
                                                 redco::named<"down", redco::linear<40, Width>>>>;
template <int Width>
constexpr redco::model_of<
    redco::sequential<redco::named<"in", redco::linear<7, 12>>, redco::named<"h", redco::repeat<3, branch<Width>>>>>
    model{};
template <int Width>
using asked =
    redco::fits<model<Width>, redco::adamw{}, redco::mesh{.dp = 1, .tp = 2}, redco::workload{.batch = 4}, 1 << 20>;

#if REDCO_ACCEPT
static_assert(asked<12>{});
#else  // expect: redco[L004]
static_assert(asked<10>{});
#endif

int main() {}
