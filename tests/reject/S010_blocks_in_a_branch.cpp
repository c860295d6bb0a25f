// Blocks inside a residual connection cannot be cut into pipeline stages.
#include <redco/shard/legal.hpp>
#include <redco/model/model.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>

using block = redco::residual<redco::linear<8, 8>>;
template <class Blocks>
using net = redco::sequential<redco::named<"in", redco::linear<4, 8>>, Blocks>;
constexpr redco::model_of<net<redco::named<"h", redco::repeat<3, block>>>> plain{};
constexpr redco::model_of<net<redco::residual<redco::named<"h", redco::repeat<3, block>>>>> branch{};

#if REDCO_ACCEPT
static_assert(redco::legal<plain, redco::mesh{.pp = 2}>{});
#else  // expect: redco[S010]
static_assert(redco::legal<branch, redco::mesh{.pp = 2}>{});
#endif

int main() {}
