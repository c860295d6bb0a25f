// A branch ends in the layout in which it begins.
#include <redco/layer/linear.hpp>
#include <redco/layer/residual.hpp>

#include <type_traits>

#if REDCO_ACCEPT
static_assert(std::is_same_v<redco::out_t<redco::residual<redco::linear<8, 8, true, redco::cut::whole>>, redco::replicated>, redco::replicated>);
#else  // expect: redco[S008]
static_assert(sizeof(redco::out_t<redco::residual<redco::linear<8, 8>>, redco::replicated>) > 0);
#endif

int main() {}
