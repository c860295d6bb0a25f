// torch
// A struct in the place of predictions is taken for one of them, so that its members are found.
#include "answers.hpp"

#if REDCO_ACCEPT
inline auto const job = redco::collate(points) | redco::loss(distance) |
                        redco::predict([](auto const& net, point_batch const& b) { return answers(net(b.x)); });
#else  // expect: redco[P004]
inline auto const job = redco::collate(points) | redco::loss(distance) |
                        redco::predict([](auto const& net, point_batch const& b) { return answers(net(b.x))[0]; });
#endif

int main(int argc, char** argv) { return train_answers(argc, argv, job); }
