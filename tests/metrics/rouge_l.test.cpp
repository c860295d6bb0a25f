#include "catch.hpp"

#include <redco/metrics/rouge_l.hpp>

#include <string>
#include <vector>

TEST_CASE("words are runs of ASCII letters and digits in lower case") {
  CHECK(redco::metrics::rouge_words("The U.S. won 4-2,\tna\xc3\xafve!") ==
        std::vector<std::string>{"the", "u", "s", "won", "4", "2", "na", "ve"});
  CHECK(redco::metrics::rouge_words(" ...").empty());
}

TEST_CASE("ROUGE-L of the sentences in Lin's paper has the paper's values") {
  std::string const reference = "police killed the gunman";
  CHECK(redco::metrics::rouge_l("police kill the gunman", reference).f == Approx(0.75));
  CHECK(redco::metrics::rouge_l("the gunman kill police", reference).f == Approx(0.5));
  CHECK(redco::metrics::rouge_l("the gunman police killed", reference).f == Approx(0.5));
}

TEST_CASE("precision divides by the candidate's words and recall by the reference's words") {
  auto const s = redco::metrics::rouge_l("the cat", "the big cat sat down");
  CHECK(s.precision == Approx(1));
  CHECK(s.recall == Approx(0.4));
  CHECK(s.f == Approx(2 * 0.4 / 1.4));
  CHECK(redco::metrics::rouge_l("", "a").f == 0);
  CHECK(redco::metrics::rouge_l("a", "").f == 0);
  CHECK(redco::metrics::rouge_l("", "").f == 0);
}

TEST_CASE("ROUGE-L in Lin's paper of one reference sentence and two candidate sentences has the paper's value") {
  auto const s = redco::metrics::rouge_l_of_summaries("w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5", "w1 w2 w3 w4 w5");
  CHECK(s.recall == Approx(4.0 / 5));
  CHECK(s.precision == Approx(4.0 / 10));
}

TEST_CASE("no word counts more often than it occurs in a summary") {
  auto const s = redco::metrics::rouge_l_of_summaries("a b\na b", "a b\nc");
  CHECK(s.recall == Approx(2.0 / 3));
  CHECK(s.precision == Approx(2.0 / 4));
  CHECK(redco::metrics::rouge_l_of_summaries("a", "a\na\na").recall == Approx(1.0 / 3));
}
