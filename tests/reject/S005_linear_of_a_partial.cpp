// A linear layer needs the sum, not an addend.
#include <redco/layer/linear.hpp>

#include <type_traits>

#if REDCO_ACCEPT
static_assert(std::is_same_v<redco::out_t<redco::linear<8, 4>, redco::replicated>, redco::split<-1>>);
#else  // expect: redco[S005]
static_assert(sizeof(redco::out_t<redco::linear<8, 4>, redco::partial>) > 0);
#endif

int main() {}
