// torch
// A range that ends after the last block is one error in a program that trains.
#include "points.hpp"
#include <redco/layer/branches.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/wrappers.hpp>
#include <redco/fact/path.hpp>
#include <redco/shape/blocks.hpp>

#include <type_traits>

using block = redco::residual<redco::linear<8, 8>>;
struct without_skip {
  template <class L, redco::fact::path>
  struct at : std::type_identity<L> {};
  template <redco::fact::path Here>
  struct at<block, Here> : std::type_identity<redco::linear<8, 8>> {};
};
using blocks = redco::sequential<redco::linear<1, 8>, redco::named<"h", redco::repeat<3, block>>, redco::linear<8, 1>>;

#if REDCO_ACCEPT
using network = redco::layers::transform_blocks<blocks, "h", redco::shape::block_range{1, 3}, without_skip>;
#else  // expect: redco[L011]
using network = redco::layers::transform_blocks<blocks, "h", redco::shape::block_range{1, 4}, without_skip>;
#endif

inline auto const job = redco::collate(points) | redco::loss(distance) | redco::predict(signs);

#include "train_points.hpp"
