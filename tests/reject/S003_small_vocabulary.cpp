// A vocabulary has at least one row for each rank.
#include <redco/shard/legal.hpp>
#include <redco/model/model.hpp>
#include <redco/layer/embeddings.hpp>

constexpr redco::model_of<redco::embedding<7, 16>> model{};

#if REDCO_ACCEPT
static_assert(redco::legal<model, redco::mesh{.dp = 1, .tp = 7}>{});
#else  // expect: redco[S003]
static_assert(redco::legal<model, redco::mesh{.dp = 1, .tp = 8}>{});
#endif

int main() {}
