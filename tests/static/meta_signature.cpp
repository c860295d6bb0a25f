// Reads properties of a callable without calling it.
#include <redco/meta/signature.hpp>

#include <type_traits>

namespace {

[[maybe_unused]] double function(int a, char const*) { return a; }
struct overloaded {
  void operator()(int) const;
  void operator()(double) const;
};
struct not_callable {};

inline constexpr auto plain = [](int a, double const& b) { return a * b; };
inline constexpr auto changing = [n = 0](int) mutable { return ++n; };
inline constexpr auto generic = [](auto const& x, int) { return x; };

template <class F>
using of = redco::meta::signature<std::remove_const_t<F>>;

static_assert(of<decltype(plain)>::known && of<decltype(plain)>::on_const && of<decltype(plain)>::arity == 2);
static_assert(std::is_same_v<of<decltype(plain)>::result, double>);
static_assert(std::is_same_v<of<decltype(plain)>::parameter<1>, double const&>);
static_assert(of<decltype(changing)>::known && !of<decltype(changing)>::on_const);
static_assert(of<decltype(&function)>::known && std::is_same_v<of<decltype(&function)>::parameter<1>, char const*>);
static_assert(!of<decltype(generic)>::known && !of<overloaded>::known && !of<not_callable>::known && !of<int>::known);

}  // namespace

int main() {}
