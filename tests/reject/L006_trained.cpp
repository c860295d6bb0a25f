// torch
// A size below one is one error in a program that trains.
#include "points.hpp"
#include <redco/layer/repeat.hpp>

#if REDCO_ACCEPT
using network = redco::sequential<redco::linear<1, 8>, redco::repeat<2, redco::linear<8, 8>>, redco::linear<8, 1>>;
#else  // expect: redco[L006]
using network = redco::sequential<redco::linear<1, 8>, redco::repeat<0, redco::linear<8, 8>>, redco::linear<8, 1>>;
#endif

inline auto const job = redco::collate(points) | redco::loss(distance) | redco::predict(signs);

#include "train_points.hpp"
