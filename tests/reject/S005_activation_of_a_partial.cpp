// gelu of the addends is not the gelu of their sum.
#include <redco/layer/gelu.hpp>

#include <type_traits>

#if REDCO_ACCEPT
static_assert(std::is_same_v<redco::out_t<redco::gelu, redco::split<-1>>, redco::split<-1>>);
#else  // expect: redco[S005]
static_assert(sizeof(redco::out_t<redco::gelu, redco::partial>) > 0);
#endif

int main() {}
