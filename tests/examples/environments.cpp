#include "torch_catch.hpp"

#include "../../examples/common/acrobot.hpp"
#include "../../examples/common/advantages.hpp"
#include "../../examples/common/cart_pole.hpp"
#include "../../examples/common/episodes.hpp"
#include "../../examples/common/minibatches.hpp"
#include "../../examples/common/pendulum.hpp"
#include "../../examples/common/sorted_digits.hpp"

#include <redco/workdir/object_bytes.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace {

bool near(double found, double expected) { return std::abs(found - expected) < 1e-12; }

std::vector<float> numbers(at::Tensor const& t) {
  at::Tensor const flat = t.to(at::kFloat).contiguous();
  return {flat.const_data_ptr<float>(), flat.const_data_ptr<float>() + flat.numel()};
}

/// Counts its steps from a random start below 10. Action 1 terminates.
struct counter {
  static constexpr int observed = 2, longest = 3;
  double count = 0, over = 0;

  std::array<double, 2> seen() const { return {count, over}; }
  double step(std::int64_t action) {
    count += 1;
    over = static_cast<double>(action);
    return count;
  }
  bool terminated() const { return over == 1; }
  static counter somewhere(std::mt19937& random) { return {static_cast<double>(10 * (random() % 10)), 0}; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(count, over);
  }
};

auto const goes_on = [](at::Tensor const& seen) { return at::zeros({seen.size(0)}, at::kLong); };

}  // namespace

// The expected states and rewards were computed by Gymnasium 3f0476a in f64.

TEST_CASE("cart_pole moves as Gymnasium's CartPole-v1") {
  cart_pole one{.01, -.02, .03, .04};
  for (int const action : {1, 0, 1, 1, 0, 0, 1, 0, 1, 1}) CHECK(one.step(action) == 1);
  CHECK(near(one.position, 0.033008390428920745));
  CHECK(near(one.speed, 0.36765098601918744));
  CHECK(near(one.angle, 0.003821465246233716));
  CHECK(near(one.turning, -0.4882037724625795));
  CHECK(one.seen() == std::array{one.position, one.speed, one.angle, one.turning});
}

TEST_CASE("cart_pole terminates beyond 2.4 m and beyond 12 degrees") {
  double const limit = 12 * std::numbers::pi / 180;
  CHECK_FALSE(cart_pole{2.4, 0, 0.999 * limit, 0}.terminated());
  CHECK_FALSE(cart_pole{-2.4, 9, -0.999 * limit, 9}.terminated());
  for (double const side : {1.001, -1.001}) {
    CHECK(cart_pole{side * 2.4, 0, 0, 0}.terminated());
    CHECK(cart_pole{0, 0, side * limit, 0}.terminated());
  }
}

TEST_CASE("acrobot moves as Gymnasium's Acrobot-v1") {
  acrobot one{{.05, -.05, .02, .03}};
  for (int const action : {0, 2, 1, 2, 0, 2, 2, 0, 1, 2}) CHECK(one.step(action) == -1);
  std::array const expected{0.03397382142307513, -0.02994439477097703, 0.2033532991248907, -0.358525972733676};
  for (std::size_t i = 0; i < 4; ++i) CHECK(near(one.state[i], expected[i]));
}

TEST_CASE("acrobot wraps its angles, limits its speeds and terminates above the line") {
  constexpr double pi = std::numbers::pi;
  acrobot fast{{3, 3, 100, -100}};
  fast.step(1);
  CHECK(std::abs(fast.state[2]) == 4 * pi);
  CHECK(std::abs(fast.state[3]) == 9 * pi);
  CHECK(std::abs(fast.state[0]) <= pi);
  CHECK(std::abs(fast.state[1]) <= pi);
  CHECK_FALSE(acrobot{{pi / 2, pi / 2 - 0.01, 0, 0}}.terminated());
  CHECK(acrobot{{pi / 2 + 0.01, pi / 2, 0, 0}}.terminated());
  acrobot top{{pi, 0, 0, 0}};
  CHECK(top.step(1) == 0);
  std::array const seen = acrobot{{0.1, 0.2, 0.3, 0.4}}.seen();
  CHECK(seen == std::array{std::cos(0.1), std::sin(0.1), std::cos(0.2), std::sin(0.2), 0.3, 0.4});
}

TEST_CASE("pendulum moves as Gymnasium's Pendulum-v1") {
  pendulum one{1.0, 0.5};
  double sum = 0;
  for (double const torque : {1., -2.5, .3, 2., -1., 0., 1.5, -.5, 3., .7}) sum += one.swing(torque);
  CHECK(near(one.angle, 3.178057420705417));
  CHECK(near(one.speed, 7.335730805098545));
  CHECK(near(sum, -49.77899669558637));
}

TEST_CASE("environments begin near rest, at a different place each time") {
  std::mt19937 random(1);
  cart_pole const a = cart_pole::somewhere(random), b = cart_pole::somewhere(random);
  CHECK(a.seen() != b.seen());
  for (double const value : a.seen()) CHECK(std::abs(value) <= 0.05);
  acrobot const c = acrobot::somewhere(random), d = acrobot::somewhere(random);
  CHECK(c.state != d.state);
  for (double const value : c.state) CHECK(std::abs(value) <= 0.1F);
}

TEST_CASE("an episode is truncated after its longest length, and is then not terminated") {
  std::mt19937 random(3);
  episodes<counter> all(2, random);
  rollout const r = all.play(4, goes_on, random);
  CHECK(numbers(r.terminated) == std::vector<float>(8, 0));
  CHECK(numbers(r.ended) == std::vector<float>{0, 0, 0, 0, 1, 1, 0, 0});
  for (std::int64_t i = 0; i < 2; ++i) {
    auto const seen = numbers(r.seen.select(1, i).select(1, 0)), next = numbers(r.next.select(1, i).select(1, 0));
    CHECK(seen[1] == seen[0] + 1);
    CHECK(next[2] == seen[0] + 3);         // the last observation, although a new episode begins
    CHECK(std::fmod(seen[3], 10.F) == 0);  // the first observation of the new episode
    CHECK(numbers(r.reward.select(1, i)) == next);
  }
  CHECK(all.take_returns().size() == 2);
  CHECK(all.take_returns().empty());
}

TEST_CASE("an episode that terminates counts as ended, and its successor has its full length") {
  std::mt19937 random(3);
  episodes<counter> all(1, random);
  int step = 0;
  rollout const r = all.play(
      6, [&](at::Tensor const&) { return at::full({1}, ++step == 2 ? 1 : 0, at::kLong); }, random);
  CHECK(numbers(r.action) == std::vector<float>{0, 1, 0, 0, 0, 0});
  CHECK(numbers(r.terminated) == std::vector<float>{0, 1, 0, 0, 0, 0});
  CHECK(numbers(r.ended) == std::vector<float>{0, 1, 0, 0, 1, 0});
  auto const reward = numbers(r.reward);
  CHECK(all.take_returns() == std::vector<double>{reward[0] + reward[1], reward[2] + reward[3] + reward[4]});
}

TEST_CASE("episodes that are saved and read again go on as if they had not been interrupted") {
  std::mt19937 random(5), other(6);
  episodes<counter> all(3, random), read(3, other);
  all.play(2, goes_on, random);
  redco::workdir::read_object(redco::workdir::object_bytes(all), read, "episodes");
  std::mt19937 copy = random;
  rollout const a = all.play(5, goes_on, random), b = read.play(5, goes_on, copy);
  CHECK(at::equal(a.seen, b.seen));
  CHECK(at::equal(a.ended, b.ended));
  CHECK(all.take_returns() == read.take_returns());
}

TEST_CASE("advantages of a truncated episode include the value of its last observation") {
  rollout r;
  r.reward = at::ones({3, 2});
  r.terminated = at::tensor({0.F, 0.F, 0.F, 1.F, 0.F, 0.F}).view({3, 2});
  r.ended = at::tensor({0.F, 0.F, 1.F, 1.F, 0.F, 0.F}).view({3, 2});
  at::Tensor const values = at::tensor({1., 2., 3., 4., 5., 6.}, at::kDouble).view({3, 2});
  at::Tensor const later = at::tensor({3., 4., 7., 8., 9., 10.}, at::kDouble).view({3, 2});
  at::Tensor const found = generalised_advantages(r, values, later, 0.5, 0.5);
  CHECK(found.scalar_type() == at::kDouble);
  // Errors reward + 0.5 * next value - value; an episode that ends adds no error of the next one.
  double const cut = 1 + 0.5 * 7 - 3, over = 1 - 4, last = 1 + 0.5 * 9 - 5, other = 1 + 0.5 * 10 - 6;
  at::Tensor const expected =
      at::tensor({1 + 0.5 * 3 - 1 + 0.25 * cut, 1 + 0.5 * 4 - 2 + 0.25 * over, cut, over, last, other}, at::kDouble);
  CHECK(at::allclose(found, expected.view({3, 2}), 1e-12, 1e-12));
  CHECK(at::allclose(values.flatten(), at::arange(1, 7).to(at::kDouble)));
}

TEST_CASE("minibatches have each row once, in random order") {
  std::mt19937 random(7);
  at::Tensor const table = at::arange(10).to(at::kFloat).view({10, 1});
  std::vector<at::Tensor> const parts = minibatches(table, 4, random);
  REQUIRE(parts.size() == 3);
  CHECK(parts[2].size(0) == 2);
  at::Tensor const all = at::cat(parts);
  CHECK_FALSE(at::equal(all, table));
  CHECK(at::equal(std::get<0>(all.sort(0)), table));
  CHECK_FALSE(at::equal(at::cat(minibatches(table, 4, random)), all));
}

TEST_CASE("pairs of sorted digits have one right answer, and no prompt is in both lists") {
  auto const all = sorted_digits::pairs(300, 100, 42);
  CHECK(all.train.size() == 300);
  CHECK(all.held_out.size() == 100);
  std::set<std::string> held_out;
  std::set<std::ptrdiff_t> shorter;
  std::size_t reordered = 0;
  for (auto const* list : {&all.held_out, &all.train})
    for (auto const& [chosen, rejected] : *list) {
      std::string const prompt = chosen.messages[0].content, right = chosen.messages[1].content,
                        wrong = rejected.messages[1].content;
      if (list == &all.held_out) held_out.insert(prompt);
      else CHECK_FALSE(held_out.contains(prompt));
      CHECK(rejected.messages[0].content == prompt);
      std::string sorted = prompt.substr(0, prompt.size() - 1);
      std::sort(sorted.begin(), sorted.end());
      CHECK(right == sorted + ".");
      CHECK(wrong != right);
      CHECK(wrong.back() == '.');
      shorter.insert(std::ssize(right) - std::ssize(wrong));
      reordered += std::is_sorted(wrong.begin(), wrong.end() - 1) ? 0 : 1;
    }
  CHECK(shorter == std::set<std::ptrdiff_t>{0, 1});
  CHECK(reordered > 100);
  CHECK(reordered < 170);
  CHECK((sorted_digits::pairs(300, 100, 42).train == all.train));
  CHECK((sorted_digits::pairs(300, 100, 1).train != all.train));
}
