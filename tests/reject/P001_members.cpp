// torch
// Members of predictions stay known although collate returns another batch than loss and predict
// take.
#include "answers.hpp"

#if REDCO_ACCEPT
inline auto const job = redco::collate(points) | redco::loss(distance) |
                        redco::predict([](auto const& net, point_batch const& b) { return answers(net(b.x)); });
#else  // expect: redco[P001]
inline auto const job = redco::collate([](auto) { return image_batch{}; }) | redco::loss(distance) |
                        redco::predict([](auto const& net, point_batch const& b) { return answers(net(b.x)); });
#endif

int main(int argc, char** argv) { return train_answers(argc, argv, job); }
