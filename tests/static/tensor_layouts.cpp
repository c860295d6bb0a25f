// Tests which layouts can be combined, and that only a replicated tensor converts to an ordinary
// tensor.
#include <redco/tensor/tensor.hpp>

#include <type_traits>
#include <utility>
#include <vector>

using redco::tensor;
using redco::shape::entered;
using redco::shape::partial;
using redco::shape::replicated;
using redco::shape::split;

template <class L>
inline constexpr bool opens_by_itself = std::is_convertible_v<tensor<L>, at::Tensor>;
template <class L>
inline constexpr bool is_made_by_itself = std::is_convertible_v<at::Tensor, tensor<L>>;

static_assert(opens_by_itself<replicated> && is_made_by_itself<replicated>);
static_assert(!opens_by_itself<entered> && !is_made_by_itself<entered>);
static_assert(!opens_by_itself<partial> && !is_made_by_itself<partial>);
static_assert(!opens_by_itself<split<-1>> && !is_made_by_itself<split<-1>>);
static_assert(!std::is_convertible_v<tensor<partial>, tensor<replicated>>);
static_assert(!std::is_convertible_v<tensor<replicated>, tensor<entered>>);
static_assert(!std::is_convertible_v<tensor<split<1>>, tensor<split<2>>>);

template <class A, class B>
using sum_of = decltype(std::declval<tensor<A>>() + std::declval<tensor<B>>());
static_assert(std::is_same_v<sum_of<replicated, replicated>, tensor<replicated>>);
static_assert(std::is_same_v<sum_of<entered, entered>, tensor<entered>>);
static_assert(std::is_same_v<sum_of<partial, partial>, tensor<partial>>);
static_assert(std::is_same_v<sum_of<partial, replicated>, tensor<partial>>);
static_assert(std::is_same_v<sum_of<replicated, partial>, tensor<partial>>);
static_assert(std::is_same_v<sum_of<split<1>, split<1>>, tensor<split<1>>>);
static_assert(
    std::is_same_v<decltype(std::declval<tensor<split<1>>>() * std::declval<tensor<split<1>>>()), tensor<split<1>>>);
static_assert(std::is_same_v<decltype(std::declval<tensor<partial>>() * 2.0), tensor<partial>>);

// A pending sum consists of this rank's part and the addends; nothing else is stored.
static_assert(sizeof(tensor<partial>) == sizeof(at::Tensor) + sizeof(std::vector<at::Tensor>));
