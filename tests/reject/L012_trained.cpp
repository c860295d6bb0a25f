// torch
// More chosen experts than experts are one error in a program that trains.
#include "points.hpp"
#include <redco/layer/branches.hpp>
#include <redco/layer/experts.hpp>

template <int Chosen>
using mlp = redco::layers::moe<redco::layers::experts<3, 8, 4>, redco::layers::top<Chosen>>;

#if REDCO_ACCEPT
using network = redco::sequential<redco::linear<1, 8>, redco::residual<mlp<3>>, redco::linear<8, 1>>;
#else  // expect: redco[L012]
using network = redco::sequential<redco::linear<1, 8>, redco::residual<mlp<4>>, redco::linear<8, 1>>;
#endif

inline auto const job = redco::collate(points) | redco::loss(distance) | redco::predict(signs);

#include "train_points.hpp"
