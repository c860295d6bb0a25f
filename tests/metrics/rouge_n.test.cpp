#include "catch.hpp"

#include <redco/metrics/rouge_n.hpp>
#include <redco/diag/error.hpp>

#include <string>
#include <utility>

namespace rouge_n_test {

using redco::metrics::rouge_n;

struct expected_score {
  std::string candidate, reference;
  int n;
  double precision, recall, f;
};

// Printed by make_scores.py.
TEST_CASE("ROUGE-1, 2 and 3 equal the rouge_score package") {
  std::string const fox = "the quick brown fox jumps over the lazy dog", log = "The Quick brown dog jumps on the log.";
  std::string const french = "naïve café au lait", capitals = "NAÏVE cafe au lait";
  for (auto const& one : {
           expected_score{fox, log, 1, 0.666666666666667, 0.75, 0.705882352941177},
           {fox, log, 2, 0.25, 0.285714285714286, 0.266666666666667},
           {fox, log, 3, 0.142857142857143, 0.166666666666667, 0.153846153846154},
           {"the the the the", "the cat is on the mat", 1, 0.5, 0.333333333333333, 0.4},
           {"the the the the", "the cat is on the mat", 2, 0, 0, 0},
           {french, capitals, 1, 0.8, 0.8, 0.8},
           {french, capitals, 2, 0.5, 0.5, 0.5},
           {french, capitals, 3, 0, 0, 0},
           {"one", "one two", 1, 1, 0.5, 0.666666666666667},
           {"one", "one two", 2, 0, 0, 0},
       }) {
    CAPTURE(one.candidate, one.n);
    auto const s = rouge_n(one.candidate, one.reference, one.n);
    CHECK(s.precision == Approx(one.precision).epsilon(1e-12));
    CHECK(s.recall == Approx(one.recall).epsilon(1e-12));
    CHECK(s.f == Approx(one.f).epsilon(1e-12));
  }
}

// Lin 2004, section 3.1: both candidates have the same bigrams in common with the reference, "the
// gunman".
TEST_CASE("ROUGE-2 does not distinguish the two candidates of Lin's paper that ROUGE-L distinguishes") {
  std::string const reference = "police killed the gunman";
  CHECK(rouge_n("police kill the gunman", reference, 2).f == Approx(1.0 / 3));
  CHECK(rouge_n("the gunman kill police", reference, 2).f == Approx(1.0 / 3));
}

TEST_CASE("texts with fewer than n words have the ROUGE score 0") {
  for (int const n : {1, 2, 1000})
    for (auto const& [candidate, reference] : {std::pair{"", "a b"}, {"a b", ""}, {"", ""}}) {
      auto const s = rouge_n(candidate, reference, n);
      CHECK(s.precision == 0);
      CHECK(s.recall == 0);
      CHECK(s.f == 0);
    }
}

TEST_CASE("an n-gram does not equal another division of its letters into words") {
  CHECK(rouge_n("ab c", "a bc", 2).f == 0);
  CHECK(rouge_n("a bc", "a bc", 2).f == 1);
}

TEST_CASE("ROUGE-N refuses runs of less than one word") {
  for (int const n : {0, -3}) {
    std::string message;
    try {
      rouge_n("a", "a", n);
    } catch (redco::error const& e) {
      CHECK(e.code() == redco::exit_code::data);
      message = e.what();
    }
    CHECK(message.find("runs of " + std::to_string(n) + " words") != std::string::npos);
  }
}

}  // namespace rouge_n_test
