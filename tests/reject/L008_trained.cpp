// torch
// A trait that is given twice is one error in a program that trains.
#include "points.hpp"
#include <redco/layer/attention.hpp>
#include <redco/layer/branches.hpp>

#if REDCO_ACCEPT
using network = redco::residual<redco::full_attention<64, 4, redco::layers::biased<false>>>;
#else  // expect: redco[L008]
using network =
    redco::residual<redco::full_attention<64, 4, redco::layers::biased<false>, redco::layers::biased<true>>>;
#endif

inline auto const job = redco::collate(points) | redco::loss(distance) | redco::predict(signs);

#include "train_points.hpp"
