// torch
// Members of predictions stay known although collate returns nothing.
#include "answers.hpp"

#if REDCO_ACCEPT
inline auto const job = redco::collate(points) | redco::loss(distance) |
                        redco::predict([](auto const& net, point_batch const& b) { return answers(net(b.x)); });
#else  // expect: redco[P009]
inline auto const job = redco::collate([](auto xs) { points(xs); }) | redco::loss(distance) |
                        redco::predict([](auto const& net, point_batch const& b) { return answers(net(b.x)); });
#endif

int main(int argc, char** argv) { return train_answers(argc, argv, job); }
