// torch
// So are the features of attention, which the heads divide.
#include "points.hpp"
#include <redco/layer/attention.hpp>
#include <redco/layer/residual.hpp>

#if REDCO_ACCEPT
using network = redco::residual<redco::full_attention<64, 4>>;
#else  // expect: redco[L009]
using network = redco::residual<redco::full_attention<64, 6>>;
#endif

inline auto const job = redco::collate(points) | redco::loss(distance) | redco::predict(signs);

#include "train_points.hpp"
