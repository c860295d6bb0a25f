#include <redco/comm/collectives.hpp>

#include <type_traits>

using redco::tensor;
using redco::shape::entered;
using redco::shape::partial;
using redco::shape::replicated;
using redco::shape::split;

template <class From>
concept enters = requires(From const& x, redco::comm::group& ranks) {
  redco::comm::enter(x, ranks);
};
template <class From>
concept reduces = requires(From const& x, redco::comm::group& ranks) {
  redco::comm::reduce(x, ranks);
};
template <class From>
concept gathers = requires(From const& x, redco::comm::group& ranks) {
  redco::comm::gather(x, ranks);
};
template <class From>
concept scatters = requires(From const& x, redco::comm::group& ranks) {
  redco::comm::scatter<0>(x, ranks);
};
template <class From>
concept reduce_scatters = requires(From const& x, redco::comm::group& ranks) {
  redco::comm::reduce_scatter<0>(x, ranks);
};
template <class From>
concept gathers_entered = requires(From const& x, redco::comm::group& ranks) {
  redco::comm::all_gather_entered(x, ranks);
};

static_assert(enters<tensor<replicated>> && scatters<tensor<replicated>>);
static_assert(!reduces<tensor<replicated>> && !gathers<tensor<replicated>> && !reduce_scatters<tensor<replicated>>);
static_assert(reduces<tensor<partial>> && reduce_scatters<tensor<partial>>);
static_assert(!enters<tensor<partial>> && !gathers<tensor<partial>> && !scatters<tensor<partial>>);
static_assert(gathers<tensor<split<-1>>> && gathers_entered<tensor<split<1>>>);
static_assert(!enters<tensor<split<-1>>> && !reduces<tensor<split<-1>>> && !scatters<tensor<split<-1>>>);
static_assert(!enters<tensor<entered>> && !reduces<tensor<entered>> && !gathers<tensor<entered>>);

template <class X>
X const& value();
redco::comm::group& ranks();
template <class Result, class Wanted>
concept same = std::is_same_v<Result, Wanted>;
static_assert(same<decltype(redco::comm::enter(value<tensor<replicated>>(), ranks())), tensor<entered>>);
static_assert(same<decltype(redco::comm::scatter<-2>(value<tensor<replicated>>(), ranks())), tensor<split<-2>>>);
static_assert(same<decltype(redco::comm::gather(value<tensor<split<1>>>(), ranks())), tensor<replicated>>);

int main() {}
