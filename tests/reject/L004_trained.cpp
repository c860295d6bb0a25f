// torch
// The compiler compares literal widths of neighbouring layers when it compiles a program that
// trains.
#include "points.hpp"

#if REDCO_ACCEPT
using network = redco::sequential<redco::linear<1, 8>, redco::relu, redco::linear<8, 1>>;
#else  // expect: redco[L004]
using network = redco::sequential<redco::linear<1, 8>, redco::relu, redco::linear<7, 1>>;
#endif

inline auto const job = redco::collate(points) | redco::loss(distance) | redco::predict(signs);

#include "train_points.hpp"
