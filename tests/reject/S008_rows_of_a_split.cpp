// A function of rows needs all features of a row.
#include <redco/layer/activations.hpp>

#include <type_traits>

#if REDCO_ACCEPT
using scaled = redco::elementwise<[](auto const& x) { return x * 2; }>;
#else  // expect: redco[S008]
using scaled = redco::rowwise<[](auto const& x) { return x * 2; }>;
#endif
static_assert(sizeof(redco::layers::out_t<scaled, redco::shape::split<-1>>) > 0);

int main() {}
