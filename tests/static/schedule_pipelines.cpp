#include <redco/schedule/pipeline_table.hpp>
#include <redco/schedule/pipeline_time.hpp>

namespace {

using namespace redco::schedule;

constexpr bool proved(pipeline_shape const& of) { return refusal_of(of).empty() && !simulate(table_of(of)).fault; }

// Proofs of 1,024 chunks of micro-batches need no flag of either compiler.
static_assert(proved({pipeline_kind::gpipe, 8, 128}));
static_assert(proved({pipeline_kind::one_f_one_b, 8, 128}));
static_assert(proved({pipeline_kind::interleaved, 8, 32, 4}));
static_assert(proved({pipeline_kind::zb_h1, 8, 128}));
static_assert(proved({pipeline_kind::v_half, 8, 64, 2}));
static_assert(proved({pipeline_kind::one_f_one_b, 64, 16}));
static_assert(!proved({pipeline_kind::interleaved, 8, 12, 2}));

}  // namespace
