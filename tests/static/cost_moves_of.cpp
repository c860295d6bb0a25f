// Compares the collectives of a block under different splits with numbers computed by hand (in
// widths h per token).
#include <redco/cost/layout_moves.hpp>

#include <array>

namespace {

using redco::cost::cut_weight, redco::cost::dense_pair, redco::cost::pass_moves, redco::cost::weight_cut;
constexpr double h = 10;

constexpr pass_moves block(weight_cut qkv, weight_cut o, weight_cut up, weight_cut down) {
  std::array const heads{cut_weight{qkv, h}, cut_weight{qkv, h}, cut_weight{qkv, h}};
  std::array const wide{cut_weight{up, 4 * h}};
  std::array const attention{dense_pair{heads, h, {o, h}}}, mlp{dense_pair{wide, 4 * h, {down, h}}};
  pass_moves m = redco::cost::moves_of(attention, h);
  m += redco::cost::moves_of(mlp, h);
  return m;
}

using enum weight_cut;
constexpr pass_moves ours = block(outputs, inputs, outputs, inputs);
static_assert(ours.forward.numbers == 4 * h && ours.forward.calls == 2);
static_assert(ours.backward.numbers == 4 * h && ours.backward.calls == 2);

// All matrices split by outputs: the heads, o's result, the wide activation and the result are
// gathered.
constexpr pass_moves columns = block(outputs, outputs, outputs, outputs);
static_assert(columns.forward.numbers == 7 * h && columns.forward.calls == 4);
static_assert(columns.backward.numbers == (1 + 2 + 4 + 2) * h);

// q, k, v split by outputs, all others by inputs: two all-reduces, and a reduce-scatter of the wide
// activation.
static_assert(block(outputs, inputs, inputs, inputs).forward.numbers == 8 * h);

// q, k, v split by inputs: their sums are scattered over the heads.
static_assert(block(inputs, inputs, outputs, inputs).forward.numbers == (3 + 2 + 2) * h);

static_assert(block(replicated, replicated, replicated, replicated).forward.calls == 0);
static_assert(block(replicated, replicated, replicated, replicated).backward.numbers == 0);
static_assert(block(replicated, inputs, replicated, outputs).forward.numbers == 2 * h + h);

// Parallel branches: one reduction of the result, one of the gradient.
constexpr double parallel_forward() {
  std::array const heads{cut_weight{outputs, 3 * h}}, wide{cut_weight{outputs, 4 * h}};
  std::array const both{dense_pair{heads, h, {inputs, h}}, dense_pair{wide, 4 * h, {inputs, h}}};
  auto const m = redco::cost::moves_of(both, h);
  return m.backward.numbers == m.forward.numbers ? m.forward.numbers : -1;
}
static_assert(parallel_forward() == 2 * h);

static_assert(redco::cost::embedding_moves(0, h).forward.numbers == 2 * h &&
              redco::cost::embedding_moves(1, h).forward.numbers == h);
static_assert(redco::cost::head_moves(0, 77, h).backward.numbers == 2 * h &&
              redco::cost::head_moves(0, 77, h).forward.calls == 0);
static_assert(redco::cost::head_moves(1, 77, h).forward.numbers == 77 &&
              redco::cost::head_moves(1, 77, h).backward.numbers == 77 + h);

}  // namespace

int main() {}
