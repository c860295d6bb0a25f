// Every rank looks up all ids, so token ids cannot be split.
#include <redco/layer/embeddings.hpp>

#include <type_traits>

#if REDCO_ACCEPT
static_assert(
    std::is_same_v<redco::layers::out_t<redco::embedding<8, 4>, redco::shape::replicated>, redco::shape::partial>);
#else  // expect: redco[S008]
static_assert(sizeof(redco::layers::out_t<redco::embedding<8, 4>, redco::shape::split<-1> >) > 0);
#endif

int main() {}
