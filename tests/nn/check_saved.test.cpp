// Tests of --check-saved with slots that a layer declares wrongly.
#include "observation.hpp"

#include <redco/tensor/saved_tensors.hpp>
#include <redco/model/model.hpp>
#include <redco/layer/activations.hpp>
#include <redco/layer/branches.hpp>
#include <redco/layer/linear.hpp>
#include <redco/layer/repeat.hpp>
#include <redco/layer/sequential.hpp>

#include <string>
#include <string_view>

namespace saved_test {

/// The declaration that a layer makes of the two tensors that it saves: its input and another
/// tensor of the same shape.
enum class claim { both, input, other, three, wrong_extents, wrong_type, wrong_name };

/// A user's layer that computes x exp(x).
template <claim Claim>
struct growth {
  using layer_concept = redco::layers::leaf_tag;
  static constexpr bool featurewise = true;
  template <class X>
  using out = X;

  template <class X, class Config>
  static constexpr void facts(Config const&, redco::fact::recorder& w) {
    using redco::fact::width_kind;
    redco::fact::flow const input = w.activation;
    redco::extents shape = input.shape;
    auto const save = [&](std::string_view slot, width_kind kind) {
      w.save(slot, shape, input.split_dim, kind, input.units);
    };
    if (Claim != claim::other) w.save("x");
    if (Claim == claim::three) save("spare", width_kind::compute);
    if (Claim == claim::wrong_extents || Claim == claim::wrong_type) shape[0] /= 2;
    if (Claim != claim::input)
      save(Claim == claim::wrong_name ? "shrunk" : "grown",
           Claim == claim::wrong_type ? width_kind::index : width_kind::compute);
    if (Claim == claim::wrong_extents) save("half", width_kind::compute);
    w.produce(input.shape, input.split_dim, input.units);
    w.backward(input);
  }
};

/// A user's layer that computes x sin(x). Autograd saves the input, which has no name, before the
/// sine; the layer declares the sine first.
struct waves {
  using layer_concept = redco::layers::leaf_tag;
  static constexpr bool featurewise = true;
  template <class X>
  using out = X;

  template <class X, class Config>
  static constexpr void facts(Config const&, redco::fact::recorder& w) {
    redco::fact::flow const input = w.activation;
    w.save("sine", input.shape, input.split_dim, redco::fact::width_kind::compute, input.units);
    w.save("x");
    w.produce(input.shape, input.split_dim, input.units);
    w.backward(input);
  }
};

}  // namespace saved_test

template <class X>
struct redco::module<saved_test::waves, X> {
  template <class Config>
  explicit module(redco::nn::builder<Config>&) {}

  template <class Context>
  tensor<X> operator()(tensor<X> const& x, Context const&) const {
    return x.like(x.local() * redco::tensors::save_as("sine", at::sin(x.local())));
  }
};

template <saved_test::claim Claim, class X>
struct redco::module<saved_test::growth<Claim>, X> {
  template <class Config>
  explicit module(redco::nn::builder<Config>&) {}

  template <class Context>
  tensor<X> operator()(tensor<X> const& x, Context const&) const {
    return x.like(x.local() * redco::tensors::save_as("grown", at::exp(x.local())));
  }
};

namespace saved_test {

template <class... Layers>
using around =
    redco::model_of<redco::sequential<n<"in", redco::linear<20, 12>>, Layers..., n<"out", redco::linear<12, 6>>>>;
template <claim First, claim Second>
using in_turn =
    around<n<"h", redco::repeat<2, redco::sequential<n<"first", growth<First>>, n<"second", growth<Second>>>>>>;
template <claim First, claim Second>
using in_branches = around<redco::sum<n<"first", growth<First>>, n<"second", growth<Second>>>>;

/// The error that --check-saved throws for a model, and the result of comparing the bytes alone.
struct verdict {
  std::string refused;
  bool bytes_are_right = false;
  bool says(std::string const& sentence) const { return refused.find(sentence) != std::string::npos; }
};

template <class Model>
verdict verdict_of() {
  auto const all = observe_floats(Model{}, {.load = {4, 1}}, {4, 20});
  return {all[0].refused, all[0].saved == all[0].declared};
}

TEST_CASE("a wrong declaration is reported by layer and slot, even if the sum of bytes is right") {
  using enum claim;
  CHECK(verdict_of<in_turn<both, both>>().refused == "");

  verdict const little = verdict_of<in_turn<both, input>>();
  CHECK(
      little.says("h.0.second: `grown` (f32 [4, 12]) is saved and not declared; "
                  "h.1.second: `grown` (f32 [4, 12]) is saved and not declared. "));
  CHECK(!little.bytes_are_right);

  verdict const much = verdict_of<in_turn<three, both>>();
  CHECK(much.says("h.0.first: `spare` (f32 [4, 12]) is declared and not saved"));
  CHECK(much.says("h.1.first: `spare` (f32 [4, 12]) is declared and not saved. "));
  CHECK(!much.bytes_are_right);

  verdict const halves = verdict_of<in_turn<both, wrong_extents>>();
  CHECK(halves.says("h.0.second: `grown` (f32 [2, 12]) is declared and not saved"));
  CHECK(halves.says("h.0.second: `half` (f32 [2, 12]) is declared and not saved"));
  CHECK(halves.says("and 2 more"));
  CHECK(halves.bytes_are_right);

  verdict const type = verdict_of<in_turn<wrong_type, both>>();
  CHECK(type.says("h.0.first: `grown` (i64 [2, 12]) is declared and not saved"));
  CHECK(type.says("h.1.first: `grown` (f32 [4, 12]) is saved and not declared"));
  CHECK(type.bytes_are_right);

  verdict const name = verdict_of<in_turn<wrong_name, both>>();
  CHECK(name.says("h.0.first: `shrunk` (f32 [4, 12]) is declared and not saved"));
  CHECK(name.says("h.0.first: `grown` (f32 [4, 12]) is saved and not declared"));
  CHECK(name.bytes_are_right);

  verdict const neighbours = verdict_of<in_turn<three, input>>();
  CHECK(neighbours.says("h.0.first: `spare` (f32 [4, 12]) is declared and not saved"));
  CHECK(neighbours.says("h.0.second: `grown` (f32 [4, 12]) is saved and not declared"));
  CHECK(neighbours.bytes_are_right);

  // Both layers save the same input, which is one storage.
  CHECK(verdict_of<in_branches<both, both>>().refused == "");
  verdict const shared = verdict_of<in_branches<both, other>>();
  CHECK(shared.says("declare: second: a tensor f32 [4, 12] is saved and not declared. "));
  CHECK(shared.bytes_are_right);
}

TEST_CASE("a tensor without a name does not take the declaration of a named tensor") {
  CHECK(verdict_of<around<n<"waves", waves>>>().refused == "");
}

}  // namespace saved_test
