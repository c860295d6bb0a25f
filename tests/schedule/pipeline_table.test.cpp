#include "catch.hpp"

#include <redco/diag/error.hpp>
#include <redco/schedule/pipeline_table.hpp>
#include <redco/schedule/pipeline_text.hpp>
#include <redco/schedule/pipeline_time.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace schedule_test {

using namespace redco::schedule;
using kinds = pipeline_kind;

std::string table_text(pipeline_shape const& of) { return text_of(table_of(of)); }

/// Calls `f` with every legal pipeline of at most 6 stages, 12 micro-batches and 3 chunks per
/// stage.
template <class F>
void each_pipeline(F const& f) {
  for (kinds const kind : pipeline_kind_texts.values())
    for (int p = 1; p <= 6; ++p)
      for (int m = 1; m <= 12; ++m)
        for (int v = 1; v <= 3; ++v)
          if (pipeline_shape const of{kind, p, m, v}; refusal_of(of).empty()) f(of);
}

TEST_CASE("tables of pipelines are those of the papers") {
  // PipeDream-Flush and Megatron-LM (2 stages, 3 micro-batches; 2 stages with 2 chunks).
  CHECK(table_text({kinds::gpipe, 2, 3}) == "0F0,0F1,0F2,0B0,0B1,0B2\n1F0,1F1,1F2,1B0,1B1,1B2\n");
  CHECK(table_text({kinds::one_f_one_b, 2, 3}) == "0F0,0F1,0B0,0F2,0B1,0B2\n1F0,1B0,1F1,1B1,1F2,1B2\n");
  CHECK(table_text({kinds::interleaved, 2, 2, 2}) ==
        "0F0,0F1,2F0,2F1,2B0,2B1,0B0,0B1\n"
        "1F0,1F1,3F0,3B0,3F1,3B1,1B0,1B1\n");
  // Zero Bubble, figure 2: the last stage delays weight gradients, the first does not.
  CHECK(table_text({kinds::zb_h1, 3, 4}) ==
        "0F0,0F1,0F2,0I0,0W0,0F3,0I1,0W1,0I2,0W2,0I3,0W3\n"
        "1F0,1F1,1I0,1F2,1I1,1W0,1F3,1I2,1W1,1I3,1W2,1W3\n"
        "2F0,2I0,2F1,2I1,2F2,2I2,2W0,2F3,2I3,2W1,2W2,2W3\n");
}

TEST_CASE("every table of at most 6 stages, 12 micro-batches and 3 chunks runs to its end") {
  int tables = 0;
  each_pipeline([&](pipeline_shape const& of) {
    ++tables;
    pipeline_table const table = table_of(of);
    INFO(text_of(table));
    CHECK(text_of(simulate(table).fault, table) == "the pipeline is sound");
    // Each chunk has all of its computations: F and B, or F, I and W.
    std::size_t computations = 0;
    for (auto const& list : table.of_stage) computations += list.size();
    std::size_t const each = of.kind == kinds::zb_h1 || of.kind == kinds::v_half ? 3 : 2;
    CHECK(computations == each * static_cast<std::size_t>(of.chunks() * of.micro_batches));
  });
  CHECK(tables == 4 * 72 + 2 * (12 + 6 + 4 + 3 + 2 + 2));
}

TEST_CASE("with equal stages, idle time and chunks in flight are those of the closed forms") {
  each_pipeline([](pipeline_shape const& of) {
    std::int64_t const p = of.stages, m = of.micro_batches, v = of.chunks_per_stage, f = 3, i = 3, w = 3;
    INFO(pipeline_kind_texts.text_of(of.kind) << " p " << p << " m " << m << " v " << v);
    pipeline_run const run = simulate(table_of(of), chunk_times{f, i, w, 0});
    CHECK(run.busy == p * m * v * (f + i + w));
    for (std::int64_t r = 0; r < p; ++r) {
      std::int64_t const held = run.in_flight[static_cast<std::size_t>(r)];
      switch (of.kind) {
        case kinds::gpipe: CHECK(held == m); break;
        case kinds::one_f_one_b: CHECK(held == std::min(m, p - r)); break;
        case kinds::interleaved: CHECK(held == std::min(2 * (p - r - 1) + (v - 1) * p + 1, m * v)); break;
        case kinds::zb_h1: CHECK(held == std::min(m, p)); break;
        case kinds::v_half: CHECK(held <= std::min(2 * m, p + 2)); break;
      }
    }
    if (of.kind == kinds::gpipe || of.kind == kinds::one_f_one_b) {
      CHECK(run.makespan == (m + p - 1) * (f + i + w));
      CHECK(run.idle() == Approx(double(p - 1) / double(m + p - 1)).margin(1e-15));
    } else if (of.kind == kinds::interleaved) {
      CHECK(run.makespan == (m * v + p - 1) * (f + i + w));
    } else if (of.kind == kinds::zb_h1 && m >= p) {
      CHECK(run.makespan == m * (f + i + w) + (p - 1) * (f + i - w));
    } else if (of.kind == kinds::v_half && m >= 2 * p) {
      // The idle time of 1F1B with chunks of twice the size is (p - 1) * 6 / 2 units per half.
      CHECK(run.makespan <= 2 * m * (f + i + w) + (p - 1) * (f + i + w) + f);
    }
  });
}

TEST_CASE("unequal stages and transfers give the makespan of a hand computation") {
  // Stage 0: F 2, B 4; stage 1: F 3, B 5; transfers take 1 up and 2 down.
  pipeline_table const table = table_of({kinds::one_f_one_b, 2, 2});
  pipeline_run const run = simulate(table, {{2, 3, 1, 1}, {3, 4, 1, 2}});
  // Stage 0: F0 0-2, F1 2-4, B0 13-17, B1 21-25. Stage 1: F0 3-6, B0 6-11, F1 11-14, B1 14-19.
  CHECK(run.starts == std::vector<std::vector<std::int64_t>>{{0, 2, 13, 21}, {3, 6, 11, 14}});
  CHECK(run.makespan == 25);
  CHECK(run.busy == 12 + 16);
  CHECK(run.idle() == Approx(1 - 28.0 / 50));
}

TEST_CASE("pipelines without a table say what they need") {
  CHECK(refusal_of({kinds::interleaved, 4, 6, 2}) ==
        "needs a number of micro-batches that is a multiple of its stages");
  CHECK(refusal_of({kinds::interleaved, 4, 8, 1}) == "needs at least two chunks per stage");
  CHECK(refusal_of({kinds::v_half, 4, 8, 1}) == "needs two chunks per stage");
  CHECK(refusal_of({kinds::one_f_one_b, 4, 8, 2}) == "needs one chunk per stage");
  CHECK(refusal_of({kinds::gpipe, 0, 8}) == "needs at least one stage");
  CHECK(refusal_of({kinds::gpipe, 1, 0}) == "needs at least one micro-batch");
  // The plain interleaved form with a number of micro-batches that 2 stages do not divide.
  pipeline_shape const odd{kinds::interleaved, 2, 3, 2};
  CHECK(simulate(table_of(odd)).fault.cause == pipeline_fault::kind::other_stage);
}

TEST_CASE("each mistake in the table of a pipeline is found at its position") {
  using faults = pipeline_fault::kind;
  auto const is = [](pipeline_shape const& of, auto const& change, faults cause, int stage, std::size_t index) {
    pipeline_table table = table_of(of);
    change(table);
    pipeline_fault const found = simulate(table).fault;
    INFO(text_of(table));
    CHECK(text_of(found, table) == text_of(pipeline_fault{cause, stage, index}, table));
    CHECK((found == pipeline_fault{cause, stage, index}));
  };
  pipeline_shape const two{kinds::one_f_one_b, 2, 3}, zb{kinds::zb_h1, 2, 2};
  is(
      two, [](pipeline_table& t) { t.of_stage[1][2].micro = 0; }, faults::repeated, 1, 2);
  is(
      two, [](pipeline_table& t) { t.of_stage[1].pop_back(); }, faults::waits_forever, 0, 5);
  is(
      two, [](pipeline_table& t) { t.of_stage[0].pop_back(); }, faults::missing, 0, 5);
  is(
      two, [](pipeline_table& t) { t.of_stage[0][1].chunk = 1; }, faults::other_stage, 0, 1);
  is(
      two, [](pipeline_table& t) { t.of_stage[0][1].micro = 3; }, faults::other_stage, 0, 1);
  is(
      two, [](pipeline_table& t) { t.of_stage[0][1].chunk = -1; }, faults::other_stage, 0, 1);
  is(
      two, [](pipeline_table& t) { std::swap(t.of_stage[1][0], t.of_stage[1][1]); }, faults::too_early, 1, 0);
  is(
      zb, [](pipeline_table& t) { std::swap(t.of_stage[0][2], t.of_stage[0][3]); }, faults::too_early, 0, 2);
  is(
      zb, [](pipeline_table& t) { t.of_stage[1].pop_back(); }, faults::missing, 1, 5);
  is(
      zb, [](pipeline_table& t) { t.of_stage[1][1].work = stage_work::backward; }, faults::repeated, 1, 4);
  // Another order that runs to its end: stage 0 computes no second forward in advance.
  is(
      two, [](pipeline_table& t) { std::swap(t.of_stage[0][1], t.of_stage[0][2]); }, faults::none, -1, 0);
  is(
      {kinds::one_f_one_b, 2, 2},
      [](pipeline_table& t) {
        t.of_stage[0] = {{stage_work::forward, 0, 0},
                         {stage_work::backward, 0, 0},
                         {stage_work::forward, 0, 1},
                         {stage_work::backward, 0, 1}};
        t.of_stage[1] = {{stage_work::forward, 1, 0},
                         {stage_work::forward, 1, 1},
                         {stage_work::backward, 1, 0},
                         {stage_work::backward, 1, 1}};
      },
      faults::waits_forever, 0, 1);
}

TEST_CASE("a schedule file is read, proved, and refused by line") {
  pipeline_table const written = table_of({kinds::v_half, 3, 4, 2});
  pipeline_table const read = read_pipeline(text_of(written), "v.csv");
  CHECK((read.of_stage == written.of_stage));
  CHECK(read.stage_of == std::vector<int>{0, 1, 2, 2, 1, 0});
  CHECK(read.micro_batches == 4);
  // Idle cells, blanks and a carriage return.
  CHECK(text_of(read_pipeline("0F0,,0F1,0B0,0B1\r\n\n, 1F0 ,1B0,1F1,1B1,\n", "x")) ==
        "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n");

  auto const refused = [](std::string const& text) -> std::string {
    try {
      read_pipeline(text, "my.csv");
    } catch (redco::error const& e) {
      CHECK(e.code() == redco::exit_code::data);
      return e.what();
    }
    return "accepted";
  };
  CHECK(refused("0F0,0B0\n1F0,1X0\n") ==
        "my.csv:2: \"1X0\" is no computation; write chunk, F, B, I or W, and micro-batch, such as 2F0");
  for (std::string const cell : {"F0", "0F", "0F-1", "0F0 0B0", "0F100000", "0F00000000001x", "-1F0"})
    CHECK(refused(cell + "\n").starts_with("my.csv:1: \"" + cell + "\" is no computation"));
  CHECK(refused("0F0,0SEND_F0,0B0\n") ==
        "my.csv:1: 0SEND_F0 is a communication; remove it, redco adds sends and receives");
  CHECK(refused("0F0,1F0,0B0\n\n1F0,1B0\n") ==
        "my.csv:3: chunk 1 is also in line 1; one stage computes all micro-batches of a chunk");
  CHECK(refused("0F0,0B0\n2F0,2B0\n") == "my.csv has no computation of chunk 1");
  CHECK(refused("\n \n") == "my.csv has no computation; write one line per pipeline stage");
  CHECK(refused("0F0,0B0,0F1,0B1\n1F0,1F1,1B0,1B1\n") ==
        "my.csv:1: 0B0 of stage 0 waits forever for another stage; this schedule cannot run");
}

}  // namespace schedule_test
