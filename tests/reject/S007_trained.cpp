// torch
// A repeated block that changes the layout is one error in a program that trains.
#include "points.hpp"
#include <redco/layer/repeat.hpp>
#include <redco/layer/wrappers.hpp>

#if REDCO_ACCEPT
using network = redco::sequential<redco::linear<1, 8>, redco::repeat<2, redco::linear<8, 8>>, redco::linear<8, 1>>;
#else  // expect: redco[S007]
using network =
    redco::sequential<redco::linear<1, 8>,
                      redco::repeat<2, redco::sequential<redco::layers::enter_layer, redco::column_linear<8, 8>>>,
                      redco::linear<8, 1>>;
#endif

inline auto const job = redco::collate(points) | redco::loss(distance) | redco::predict(signs);

#include "train_points.hpp"
