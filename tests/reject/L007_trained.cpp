// torch
// A layer that does not declare its parts is one error in a program that trains.
#include "points.hpp"

#if REDCO_ACCEPT
template <redco::layer Body>
struct wrapped : Body {
  using layer_concept = redco::layers::layer_tag;
  using subs = redco::layers::parts<redco::layers::part<"", Body>>;
  template <class Other>
  using rebind = wrapped<Other>;
};
#else  // expect: redco[L007]
template <redco::layer Body>
struct wrapped : Body {
  using layer_concept = redco::layers::layer_tag;
};
#endif

template <class Body, class X>
struct redco::module<wrapped<Body>, X> : redco::module<Body, X> {
  using redco::module<Body, X>::module;
};
using network = wrapped<redco::linear<1, 1>>;

inline auto const job = redco::collate(points) | redco::loss(distance) | redco::predict(signs);

#include "train_points.hpp"
