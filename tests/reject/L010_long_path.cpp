// The path of a layer has at most 80 characters.
#include <redco/shard/legal.hpp>
#include <redco/model/model.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/sequential.hpp>
#include <redco/layer/wrappers.hpp>

template <redco::meta::fixed_string Name>
constexpr redco::model_of<
    redco::sequential<redco::linear<8, 12>, redco::relu, redco::named<Name, redco::linear<12, 4>>>>
    model{};

#define FORTY "a_name_of_forty_characters_without_a_dot"
#if REDCO_ACCEPT
static_assert(redco::legal<model<FORTY>, redco::mesh{.dp = 1, .tp = 2}>{});
#else  // expect: redco[L010]
static_assert(redco::legal<model<FORTY FORTY FORTY FORTY FORTY>, redco::mesh{.dp = 1, .tp = 2}>{});
#endif

int main() {}
