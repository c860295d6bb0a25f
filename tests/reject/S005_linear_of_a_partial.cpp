// A linear layer needs the sum, not an addend.
#include <redco/layer/linear.hpp>

#include <type_traits>

#if REDCO_ACCEPT
static_assert(
    std::is_same_v<redco::layers::out_t<redco::linear<8, 4>, redco::shape::replicated>, redco::shape::split<-1>>);
#else  // expect: redco[S005]
static_assert(sizeof(redco::layers::out_t<redco::linear<8, 4>, redco::shape::partial>) > 0);
#endif

int main() {}
