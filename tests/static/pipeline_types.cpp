// Tests the types of a pipeline, the functions that it accepts without instantiating them, and its
// size.
#include <redco/pipeline/functions.hpp>
#include <redco/pipeline/pipeline.hpp>

#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace {

struct batch {
  std::vector<int> ids;
  std::string name;
};
struct derived : batch {};
struct other {
  std::string name;
};
struct move_only {
  std::unique_ptr<int> p;
};
struct my_loss {
  double sum;
};
struct my_net {
  int value;
};
template <class T>
concept named = requires(T const& t) {
  t.name;
};
template <class T>
concept trained = requires(T const& t) {
  t.value;
};

}  // namespace

template <>
inline constexpr bool redco::pipelines::enable_loss<my_loss> = true;

namespace {

// None of these bodies is valid: they must not be instantiated.
inline constexpr auto in_net = [](auto const& net, batch const& b) { return net.no_such(b); };
inline constexpr auto in_both = [](auto const& net, auto const& b) { return net.no_such(b); };
inline constexpr auto forwarding = [](auto&& net, auto&& b) { return net.no_such(b); };
inline constexpr auto by_value = [](auto net, batch b) { return net.no_such(b); };
inline constexpr auto constrained = [](auto const& net, named auto const& b) { return net.no_such(b); };
inline constexpr auto constrained_net = [](trained auto const& net, batch const& b) { return net.no_such(b); };
inline constexpr auto alternatives = [](auto const& net, std::variant<int, batch> const& b) { return net.no_such(b); };
inline constexpr auto deduced = []<class T>(auto const& net, std::vector<T> const& b) { return net.no_such(b); };
inline constexpr auto named_net = [](my_net const&, auto const& b) { return b.no_such(); };
inline constexpr auto named_both = [](my_net const&, batch const&) { return my_loss{1}; };
inline constexpr auto changing = [](auto const& net, batch& b) { return net.no_such(b); };
[[maybe_unused]] my_loss function(my_net const&, batch const&) { return {2}; }
struct final_functor final {
  my_loss operator()(my_net const&, batch const&) const { return {3}; }
};

template <auto const& F, class Batch>
concept takes = redco::pipelines::detail::accepts_batch<std::remove_cvref_t<decltype(F)>, Batch>;

static_assert(takes<in_net, batch> && takes<in_net, derived> && !takes<in_net, other> && !takes<in_net, move_only>);
static_assert(takes<in_both, batch> && takes<in_both, move_only> && takes<forwarding, batch> &&
              takes<forwarding, move_only>);
static_assert(takes<by_value, batch> && !takes<by_value, other>);
static_assert(takes<constrained, batch> && takes<alternatives, batch> && !takes<alternatives, other>);
static_assert(takes<constrained_net, batch>);  // cannot be checked yet
static_assert(takes<deduced, std::vector<int>> &&
              takes<deduced, batch>);  // T of the batch is unknown: cannot be checked yet
static_assert(takes<named_net, batch> && takes<named_both, batch> && takes<named_both, derived> &&
              !takes<named_both, other>);
static_assert(!takes<changing, batch>);
static_assert(redco::pipelines::detail::accepts_batch<decltype(&function), batch> &&
              !redco::pipelines::detail::accepts_batch<decltype(&function), other>);
static_assert(redco::pipelines::detail::accepts_batch<final_functor, batch>);

inline constexpr auto make_batch = [](std::span<int const> examples) {
  return batch{{examples.begin(), examples.end()}, ""};
};
inline constexpr auto make_shifted = [](std::span<int const> examples, redco::pipelines::collate_info const& info) {
  batch b;
  for (int const e : examples) b.ids.push_back(e + static_cast<int>(info.first_example));
  return b;
};
inline constexpr auto make_any = [](auto examples) { return std::vector(examples.begin(), examples.end()); };
inline constexpr auto double_all = [](auto const& net, batch const& b) {
  std::vector<int> out;
  for (int const id : b.ids) out.push_back(net.value * id);
  return out;
};

inline constexpr auto whole = redco::collate(make_batch) | redco::loss(named_both) | redco::predict(double_all);
inline constexpr auto backwards = redco::predict(double_all) | (redco::loss(named_both) | redco::collate(make_batch));
inline constexpr auto unseen = redco::collate(make_any) | redco::loss(in_net) | redco::predict(in_both);

static_assert(sizeof(whole) == 1 && sizeof(backwards) == 1 && sizeof(redco::loss(in_net)) == 1);
static_assert(redco::pipelines::training_pipeline<decltype(whole)> &&
              redco::pipelines::predicting_pipeline<decltype(backwards)>);
static_assert(redco::pipelines::any_pipeline<decltype(redco::loss(in_net))> &&
              !redco::pipelines::training_pipeline<decltype(redco::loss(in_net))>);
static_assert(!redco::pipelines::predicting_pipeline<decltype(redco::collate(make_batch) | redco::loss(in_net))>);
static_assert(redco::pipelines::training_pipeline<decltype(unseen)>);
static_assert(!redco::pipelines::any_pipeline<int> && !redco::pipelines::any_pipeline<redco::diag::ill_formed>);

static_assert(std::is_same_v<redco::pipelines::batch_of<decltype(whole), int>, batch>);
static_assert(std::is_same_v<redco::pipelines::batch_of<decltype(unseen), char>, std::vector<char>>);
static_assert(std::is_same_v<redco::pipelines::batch_of<decltype(redco::collate(make_shifted)), int>, batch>);
static_assert(std::is_same_v<decltype(backwards.loss(my_net{}, batch{})), my_loss>);
static_assert(std::is_same_v<decltype(backwards.predict(my_net{}, batch{})), std::vector<int>>);

static_assert(redco::pipelines::loss_value<my_loss const&> && !redco::pipelines::loss_value<double>);
static_assert(redco::per_example<std::vector<bool>> && redco::per_example<std::span<int const>> &&
              redco::per_example<std::string>);
static_assert(!redco::per_example<int> && !redco::per_example<void> && !redco::per_example<my_loss>);

constexpr redco::pipelines::collate_info third{.first_example = 2, .seed = 7, .step = 5};
constexpr redco::pipelines::collate_info first{.seed = 7, .step = 5};
static_assert(third.random(0) == first.random(2) && third.random(0) != first.random(0));

}  // namespace

int main() {}
