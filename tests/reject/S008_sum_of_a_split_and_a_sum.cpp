// A part of the features cannot be added to a pending sum of all features.
#include <redco/layer/branches.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/sequential.hpp>

template <class... Branches>
using output_of = redco::layers::out_t<redco::sum<Branches...>, redco::shape::entered>;

using pair = redco::sequential<redco::column_linear<8, 8>, redco::row_linear<8, 8>>;

#if REDCO_ACCEPT
static_assert(sizeof(output_of<pair, pair>) > 0);
#else  // expect: redco[S008]
static_assert(sizeof(output_of<redco::column_linear<8, 8>, pair>) > 0);
#endif

int main() {}
