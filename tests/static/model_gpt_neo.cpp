// GPT-Neo: number of parameters of the public model, splits, messages; the products of every second
// block are those of its window.
#include "model_facts.hpp"

#include <redco/cost/operations.hpp>
#include <redco/cost/simulation.hpp>
#include <redco/model/gpt_neo.hpp>

namespace {

using namespace model_facts;
using redco::extents;
using redco::fact::reason;

constexpr redco::gpt_neo neo{};
constexpr std::int64_t d = 2048;
static_assert(numbers<neo>() == 24 * (12 * d * d + 10 * d) + 50257 * d + 2048 * d + 2 * d);
static_assert(numbers<neo>() == 1'315'575'808);
static_assert(part<neo>("h.0::2.attn.q.weight", 2, reason::heads) == extents{1024, 2048});
static_assert(part<neo>("h.1::2.attn.o.weight", 4, reason::row) == extents{2048, 512});
static_assert(count<neo>("h.0::2.attn.q.bias") == 0 && count<neo>("h.1::2.attn.o.bias") == 1);
static_assert(legal_widths<neo>({1, 2, 4, 8, 16}));
static_assert(reductions<neo>("h.0::2", false, 12) == 2 && reductions<neo>("h.1::2", true, 12) == 2);

static_assert(redco::gpt_neo::attention<&redco::models::gpt_neo_config::odd_window>::scores(neo.config).scale == 1);

/// Returns the operations of a forward pass over one example of 1024 tokens.
template <auto const& Model>
constexpr std::int64_t operations() {
  redco::fact::program const p = redco::shard::facts_of<Model>({.batch = 1, .sequence = 1024});
  redco::cost::setup const s{.load = {1, 1024}};
  return redco::cost::simulation(p, s).work().all;
}
// Two of five blocks have a window. They lack 768 keys for each query, in scores and in sums of
// values.
constexpr redco::gpt_neo odd{{.layers = 5}}, without{{.layers = 5, .odd_window = 0}};
static_assert(operations<without>() - operations<odd>() == 2 * 2 * 2 * 1024 * 768 * d);

}  // namespace

int main() {}
