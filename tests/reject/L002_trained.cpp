// torch
// Cross-attention without encoder states is one error in a program that trains.
#include "points.hpp"
#include <redco/layer/attention.hpp>
#include <redco/layer/branches.hpp>

#if REDCO_ACCEPT
using network = redco::residual<redco::full_attention<64, 4>>;
#else  // expect: redco[L002]
using network = redco::residual<redco::cross_attention<64, 4>>;
#endif

inline auto const job = redco::collate(points) | redco::loss(distance) | redco::predict(signs);

#include "train_points.hpp"
