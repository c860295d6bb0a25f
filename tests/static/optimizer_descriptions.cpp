#include <redco/optimizer/groups.hpp>
#include <redco/optimizer/learning_rate.hpp>
#include <redco/optimizer/muon.hpp>
#include <redco/optimizer/optimizer_description.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/optimizer/state_slots.hpp>

#include <array>
#include <string_view>

// Optimizers are template arguments, including their schedules. (g++ 12 does not accept the address
// of a function in one.)
template <auto Optimizer>
constexpr int slot_count = redco::optimizer::state_slots(Optimizer).size();

static_assert(slot_count<redco::adamw{}> == 2);
static_assert(slot_count<redco::adamw{.lr = redco::cosine{.peak = 3e-4, .warmup = 100}, .amsgrad = true}> == 3);
static_assert(slot_count<redco::adam{.lr = redco::linear_decay{.peak = 1e-3}}> == 2);
static_assert(slot_count<redco::sgd{.lr = 0.1}> == 0);
static_assert(slot_count<redco::sgd{.lr = redco::one_cycle{}, .momentum = 0.9}> == 1);
static_assert(slot_count<redco::optimizer::lion{}> == 1 && slot_count<redco::optimizer::ademamix{}> == 3);
static_assert(slot_count<redco::optimizer::schedule_free{}> == 2);
static_assert(slot_count<redco::optimizer::averaged(redco::adamw{.amsgrad = true}, 0.99)> == 4);
constexpr redco::optimizer::muon orthogonal{.lr = 1e-3};
static_assert(redco::optimizer::demands_of(orthogonal).gathers && redco::optimizer::demands_of(orthogonal).slots == 2);
static_assert(redco::optimizer::demands_of(orthogonal).matrix_slots == 1);
static_assert(redco::optimizer::demands_of(redco::optimizer::averaged(orthogonal)).matrix_slots == 2);
static_assert(!redco::optimizer::demands_of(redco::adamw{}).gathers);
constexpr redco::optimizer::demands factored = redco::optimizer::demands_of(redco::optimizer::adafactor{.beta1 = 0.9});
static_assert(factored.factors && !factored.gathers && factored.slots == 2 && factored.matrix_slots == 1);
static_assert(redco::optimizer::matrix_slots(redco::optimizer::adafactor{}).form(1) ==
              redco::optimizer::slot_form::columns);
static_assert(slot_count<redco::optimizer::adafactor{}> == 1);
constexpr double half(std::int64_t, std::int64_t) { return 0.5; }
constexpr redco::sgd halved{.lr = half};
static_assert(redco::optimizer::state_slots(halved).size() == 0 &&
              halved.lr.kind == redco::optimizer::schedule_kind::function);
static_assert(redco::optimizer::state_slots(redco::adamw{})[1] == "exp_avg_sq");
static_assert(redco::optimizer::clip_norm(redco::adamw{.clip_norm = 1.5}) == 1.5);
static_assert(redco::optimizer::decay_all(redco::adam{.decay_all = true}));
static_assert(redco::optimizer::clip_kind(redco::sgd{.clip_kind = redco::optimizer::norm_kind::inf}) ==
              redco::optimizer::norm_kind::inf);

struct sign_rule {
  double lr = 1e-4;
  static constexpr std::string_view name = "sign";
  static constexpr std::string_view slots[] = {"momentum"};
};
static_assert(slot_count<sign_rule{}> == 1);
static_assert(redco::optimizer::clip_norm(sign_rule{}) == 0 && !redco::optimizer::decay_all(sign_rule{}));
static_assert(redco::optimizer::clip_kind(sign_rule{}) == redco::optimizer::norm_kind::l2);

struct without_state {
  double lr = 1e-4;
  static constexpr std::string_view name = "none";
  static constexpr std::array<std::string_view, 0> slots{};
};
struct without_rate {
  static constexpr std::string_view name = "x";
  static constexpr std::array<std::string_view, 0> slots{};
};
struct without_name {
  double lr = 1e-4;
  static constexpr std::array<std::string_view, 0> slots{};
};

static_assert(redco::optimizer::optimizer_description<redco::adamw> &&
              redco::optimizer::optimizer_description<redco::adam>);
static_assert(redco::optimizer::optimizer_description<redco::sgd> &&
              redco::optimizer::optimizer_description<redco::optimizer::scheduled<redco::sgd>>);
static_assert(redco::optimizer::optimizer_description<sign_rule> &&
              redco::optimizer::optimizer_description<without_state>);
static_assert(!redco::optimizer::optimizer_description<without_rate> &&
              !redco::optimizer::optimizer_description<without_name>);
static_assert(!redco::optimizer::optimizer_description<int>);
