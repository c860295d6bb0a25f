// A residual branch must return the layout of its input.
#include <redco/layer/branches.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>

template <class... Layers>
using branch = redco::layers::out_t<redco::residual<redco::sequential<redco::layers::enter_layer, Layers...>>,
                                    redco::shape::replicated>;

#if REDCO_ACCEPT
static_assert(sizeof(branch<redco::column_linear<8, 8>, redco::row_linear<8, 8>>) > 0);
#else  // expect: redco[S008]
static_assert(sizeof(branch<redco::column_linear<8, 8>>) > 0);
#endif

int main() {}
