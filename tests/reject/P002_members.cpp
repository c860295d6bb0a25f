// torch
// Members of refused predictions stay known if predict names its types, because its return type is
// then known.
#include "answers.hpp"

using net_of_points = redco::bound_network<redco::model_of<two_layers>>;

#if REDCO_ACCEPT
inline auto const job =
    redco::collate(points) | redco::loss(distance) |
    redco::predict([](net_of_points const& net, point_batch const& b) { return answers(net(b.x)); });
#else  // expect: redco[P002]
inline auto const job =
    redco::collate(points) | redco::loss(distance) |
    redco::predict([](net_of_points const& net, image_batch const& b) { return answers(net(at::tensor(b.pixels))); });
#endif

int main(int argc, char** argv) { return train_answers(argc, argv, job); }
