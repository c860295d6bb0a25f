// torch
// If predict returns one struct instead of a range, the struct counts as one prediction, so that
// its members stay known.
#include "answers.hpp"

#if REDCO_ACCEPT
inline auto const job = redco::collate(points) | redco::loss(distance) |
                        redco::predict([](auto const& net, point_batch const& b) { return answers(net(b.x)); });
#else  // expect: redco[P004]
inline auto const job = redco::collate(points) | redco::loss(distance) |
                        redco::predict([](auto const& net, point_batch const& b) { return answers(net(b.x))[0]; });
#endif

int main(int argc, char** argv) { return train_answers(argc, argv, job); }
