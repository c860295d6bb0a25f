// A part of the features and a whole are not added.
#include <redco/layer/linear.hpp>
#include <redco/layer/sum.hpp>

#include <type_traits>

template <class... Branches>
using given = redco::out_t<redco::sum<Branches...>, redco::entered>;

#if REDCO_ACCEPT
static_assert(sizeof(redco::out_t<redco::sum<redco::linear<8, 8>>, redco::split<-1>>) > 0);
#else  // expect: redco[S008]
static_assert(sizeof(given<redco::column_linear<8, 8>, redco::whole_linear<8, 8>>) > 0);
#endif

int main() {}
