#include "catch.hpp"
#include "refused.hpp"
#include "well_formed.hpp"

#include <redco/report/detail/plot_axis.hpp>
#include <redco/report/pictures/confusion_matrix.hpp>
#include <redco/report/pictures/contact_sheet.hpp>
#include <redco/report/pictures/curves.hpp>
#include <redco/report/pictures/pipeline_picture.hpp>
#include <redco/schedule/pipeline_table.hpp>
#include <redco/schedule/pipeline_time.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace report_test {

using redco::report::series;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

/// The rectangle of a plot: x, y, width and height.
std::vector<double> frame_of(std::string const& svg) {
  std::smatch m;
  REQUIRE(std::regex_search(
      svg, m,
      std::regex("<rect x=\"([^\"]*)\" y=\"([^\"]*)\" width=\"([^\"]*)\" height=\"([^\"]*)\" class=\"p-frame\"")));
  return {std::stod(m[1]), std::stod(m[2]), std::stod(m[3]), std::stod(m[4])};
}

/// The points of the curve of the given colour; a gap is a point of NaN.
std::vector<std::pair<double, double>> points_of(std::string const& svg, std::string const& colour) {
  std::smatch m;
  REQUIRE(std::regex_search(svg, m, std::regex("<path d=\"(M[^h\"]*)\" class=\"p-curve " + colour)));
  std::string const d = m[1];
  std::vector<std::pair<double, double>> points;
  std::regex const point("([ML])([-0-9.]+) ([-0-9.]+)");
  for (std::sregex_iterator at(d.begin(), d.end(), point); at != std::sregex_iterator(); ++at) {
    if ((*at)[1] == "M" && !points.empty()) points.emplace_back(nan, nan);
    points.emplace_back(std::stod((*at)[2]), std::stod((*at)[3]));
  }
  return points;
}

TEST_CASE("points of a curve are at the coordinates of their values, between ticks at round numbers") {
  std::string const svg = redco::report::curves({{"", {0, 25, 50, 100}, {0, 3, 7.5, 10}}}, {.title = "loss"});
  auto const frame = frame_of(svg);
  auto const points = points_of(svg, "p0");
  REQUIRE(points.size() == 4);
  std::vector<std::pair<double, double>> const shares = {{0, 0}, {0.25, 0.3}, {0.5, 0.75}, {1, 1}};
  for (std::size_t i = 0; i < shares.size(); ++i) {
    CHECK(points[i].first == Approx(frame[0] + shares[i].first * frame[2]).margin(0.11));
    CHECK(points[i].second == Approx(frame[1] + (1 - shares[i].second) * frame[3]).margin(0.11));
  }
  for (std::string const tick : {">0<", ">2<", ">4<", ">10<", ">20<", ">100<"})
    CHECK(svg.find(tick) != std::string::npos);
}

TEST_CASE("a decade of a logarithmic axis is as high as any other") {
  std::string const svg = redco::report::curves({{"", {1, 2, 3, 4, 5}, {1000, 10, 1, 0, -3}}}, {.log_y = true});
  auto const frame = frame_of(svg);
  auto const points = points_of(svg, "p0");
  REQUIRE(points.size() == 3);
  CHECK(points[0].second == Approx(frame[1]).margin(0.11));
  CHECK(points[1].second == Approx(frame[1] + frame[3] * 2 / 3).margin(0.11));
  CHECK(points[2].second == Approx(frame[1] + frame[3]).margin(0.11));
}

TEST_CASE("ticks are round numbers with as many decimals as their distance needs") {
  auto const texts = [](redco::report::detail::plot_axis const& axis) {
    std::string all;
    for (auto const& tick : axis.ticks()) all += tick.text + " ";
    return all;
  };
  using axis = redco::report::detail::plot_axis;
  CHECK(texts(axis::linear(0.13, 0.98, 5, true)) == "0 0.2 0.4 0.6 0.8 1.0 ");
  CHECK(texts(axis::linear(1, 50'000, 6, false)) == "10k 20k 30k 40k 50k ");
  CHECK(texts(axis::linear(1'000'000, 2'500'000, 5, true)) == "1.0M 1.5M 2.0M 2.5M ");
  CHECK(texts(axis::linear(0, 3e-5, 5, true)) == "0 1e-5 2e-5 3e-5 ");
  CHECK(texts(axis::linear(-1, 1, 5, true)) == "-1.0 -0.5 0 0.5 1.0 ");
  CHECK(texts(axis::linear(7, 7, 5, true)) == "6.0 6.5 7.0 7.5 8.0 ");
  CHECK(texts(axis::linear(3, 3, 6, false, true)) == "2 3 4 ");
  CHECK(texts(axis::logarithmic(0.3, 0.9, 6)) == "0.1 0.2 0.5 1 ");
  CHECK(texts(axis::logarithmic(1e-6, 20, 6)) == "1e-6 0.0001 0.01 1 100 ");
  CHECK(axis::linear(-1e300, 1e300, 5, true).ticks().size() >= 3);
}

TEST_CASE("values that are not finite are gaps, and a point without neighbours is a circle") {
  std::string const svg = redco::report::curves({{"", {0, 1, 2, 3, 4, 5}, {1, 2, nan, 3, infinity, 1}}});
  auto const points = points_of(svg, "p0");
  REQUIRE(points.size() == 6);
  CHECK(std::isnan(points[2].first));
  CHECK(std::isnan(points[4].first));
  series many{"", {}, {}};
  for (int i = 0; i < 100; ++i) {
    many.x.push_back(i);
    many.y.push_back(i % 50 == 7 || i > 90 ? i : nan);
  }
  CHECK(count_of(redco::report::curves({many}), "<circle") == 2);
  for (auto const& none : {series{"a", {1, 2}, {nan, infinity}}, series{"a", {}, {}}}) {
    std::string const empty = redco::report::curves({none}, {.title = "t"});
    CHECK(empty.find("no finite value") != std::string::npos);
    CHECK(well_formed(empty) == "");
  }
  CHECK(redco::report::curves({}).find("no finite value") != std::string::npos);
}

TEST_CASE("thinning keeps extremes, both ends and gaps") {
  series all{"loss", {}, {}};
  for (int i = 0; i < 10'000; ++i) {
    all.x.push_back(i);
    all.y.push_back(std::sin(i * 0.01));
  }
  all.y[1234] = 99, all.y[1235] = -99, all.y[7000] = nan;
  series const few = redco::report::thinned(all, 600);
  CHECK(few.x.size() <= 600);
  CHECK(few.x.size() >= 300);
  CHECK(few.name == "loss");
  CHECK(few.x.front() == 0);
  CHECK(few.x.back() == 9999);
  auto const kept = [&](double x, double y) {
    for (std::size_t i = 0; i < few.x.size(); ++i)
      if (few.x[i] == x) return few.y[i] == y || (std::isnan(few.y[i]) && std::isnan(y));
    return false;
  };
  CHECK(kept(1234, 99));
  CHECK(kept(1235, -99));
  CHECK(kept(7000, nan));
  CHECK(std::is_sorted(few.x.begin(), few.x.end()));
  CHECK(redco::report::thinned(few, 600).x == few.x);
  CHECK(points_of(redco::report::curves({all}, {.most_points = 50}), "p0").size() <= 51);
}

TEST_CASE("texts of pictures are escaped, and pictures are well-formed XML whatever their texts") {
  std::string const evil = "</text><script>&\"'\xFF\x01" + std::string(500, 'w');
  std::vector<std::string> const pictures = {
      redco::report::curves({{evil, {1, 2}, {3, 4}}, {evil, {1}, {2}}}, {evil, evil, evil}),
      redco::report::heat_map(std::vector<double>{1, nan}, {evil}, {evil, "b"}, evil),
      redco::report::confusion_matrix(std::vector<std::int64_t>{0, 1}, std::vector<std::int64_t>{1, 1}, {evil, "b"},
                                      evil),
      redco::report::contact_sheet(std::vector<redco::report::picture_tile>{{1, 1, 1, {7}, evil}}, evil),
      redco::report::strip({}, evil)};
  for (std::string const& svg : pictures) {
    CHECK(well_formed(svg) == "");
    CHECK(svg.find("<script>") == std::string::npos);
    CHECK(svg.size() < 20'000);
  }
}

TEST_CASE("a confusion matrix has the counts and the share of each class that is right") {
  std::vector<std::int64_t> const labels = {0, 0, 0, 0, 1, 1, 2}, said = {0, 0, 0, 1, 1, 2, 2};
  std::string const svg = redco::report::confusion_matrix(said, labels, {"cat", "dog", "owl"});
  CHECK(svg.find("71.4% of 7 right") != std::string::npos);
  CHECK(svg.find("cat predicted as cat: 3, 75.0%") != std::string::npos);
  CHECK(svg.find("cat predicted as dog: 1, 25.0%") != std::string::npos);
  CHECK(svg.find("dog predicted as owl: 1, 50.0%") != std::string::npos);
  CHECK(svg.find("fill-opacity=\".75\"") != std::string::npos);
  CHECK(svg.find(">50.0%<") != std::string::npos);
  CHECK(count_of(svg, "class=\"p-cell\"") == 5);
  CHECK(redco::report::confusion_matrix({}, {}, {}).find("no examples") != std::string::npos);
  CHECK(refused([&] {
          redco::report::confusion_matrix(said, labels, {"cat", "dog"});
        }).find("65 example 5 of a confusion matrix has class 2, but there are 2 classes") == 0);
  CHECK(refused([&] { redco::report::confusion_matrix({}, labels, {}); }).find("70 ") == 0);
}

TEST_CASE("a confusion matrix of many classes shows those with the most errors") {
  std::vector<std::string> names;
  std::vector<std::int64_t> labels, said;
  for (int i = 0; i < 200; ++i) {
    names.push_back("class" + std::to_string(i));
    labels.push_back(i);
    said.push_back(i == 150 ? 151 : i);
  }
  std::string const svg = redco::report::confusion_matrix(said, labels, names);
  CHECK(svg.find("40 of 200 classes") != std::string::npos);
  CHECK(svg.find("class150 predicted as class151: 1, 100.0%") != std::string::npos);
  CHECK(svg.find("class100") == std::string::npos);
  CHECK(well_formed(svg) == "");
}

TEST_CASE("the least value of a heat map has no colour and the greatest has the full colour") {
  std::vector<double> const values = {0, 0.5, nan, 2};
  std::string const svg = redco::report::heat_map(values, {"a", "b"}, {"x", "y"}, "attention");
  CHECK(svg.find("fill-opacity=\".00\"><title>a, x: 0<") != std::string::npos);
  CHECK(svg.find("fill-opacity=\".25\"><title>a, y: 0.50<") != std::string::npos);
  CHECK(svg.find("fill-opacity=\"1\"><title>b, y: 2.0<") != std::string::npos);
  CHECK(count_of(svg, "class=\"p-none\"") == 1);
  CHECK(redco::report::heat_map(std::vector<double>{3}, {"a"}, {"x"}).find(".50") != std::string::npos);
  CHECK(redco::report::heat_map({}, {}, {}).find("no finite value") != std::string::npos);
  std::vector<std::string> const many(100, "word");
  std::string const large = redco::report::heat_map(std::vector<double>(10'000, 1), many, many);
  CHECK(large.find("the first 64 of 100 rows; the first 64 of 100 columns") != std::string::npos);
  CHECK(count_of(large, "class=\"p-cell\"") == 64 * 64);
  CHECK(refused([&] {
          redco::report::heat_map(values, {"a"}, {"x"});
        }).find("70 a heat map of 1 rows and 1 columns has 4 values") == 0);
}

TEST_CASE("an image is a PNG file of its size") {
  redco::report::picture_tile const image{3, 2, 3, std::vector<std::uint8_t>(18, 200), {}};
  std::string const png = redco::report::png_of(image);
  CHECK(png.substr(0, 8) == "\x89PNG\r\n\x1a\n");
  CHECK(png.substr(12, 12) == std::string("IHDR\0\0\0\3\0\0\0\2", 12));
  CHECK(png.substr(24, 2) == "\x08\x02");
  CHECK(redco::report::base64_of("") == "");
  CHECK(redco::report::base64_of("f") == "Zg==");
  CHECK(redco::report::base64_of("fo") == "Zm8=");
  CHECK(redco::report::base64_of("foo") == "Zm9v");
  CHECK(redco::report::base64_of("\xFF\xFE\xFD\xFC") == "//79/A==");
  for (redco::report::picture_tile const& wrong : {redco::report::picture_tile{2, 2, 1, {1, 2, 3}, {}},
                                                   {2, 2, 2, std::vector<std::uint8_t>(8), {}},
                                                   {0, 0, 1, {}, {}}}) {
    CHECK(refused([&] { redco::report::png_of(wrong); }).find("70 an image of ") == 0);
    CHECK(refused([&] { redco::report::contact_sheet({&wrong, 1}); }).find("70 ") == 0);
  }
}

TEST_CASE("grey values between 0 and 1 become bytes") {
  std::vector<float> const values = {0, 0.5F, 1, -3, 7, std::numeric_limits<float>::quiet_NaN()};
  auto const image = redco::report::picture_tile::grey(values, 3, "digit");
  CHECK(image.width == 3);
  CHECK(image.height == 2);
  CHECK(image.pixels == std::vector<std::uint8_t>{0, 128, 255, 0, 255, 0});
  CHECK(image.caption == "digit");
}

TEST_CASE("a contact sheet is bounded, and a strip keeps the first and the last frame") {
  redco::report::picture_tile const dot{1, 1, 1, {9}, {}};
  std::string const sheet = redco::report::contact_sheet(std::vector(300, dot), "all");
  CHECK(count_of(sheet, "<image ") == 200);
  CHECK(sheet.find("the first 200 of 300 images") != std::string::npos);
  redco::report::picture_tile const wide{2000, 1000, 1, std::vector<std::uint8_t>(2'000'000, 5), {}};
  std::string const reduced = redco::report::contact_sheet({&wide, 1});
  std::string const png = redco::report::png_of({250, 125, 1, std::vector<std::uint8_t>(31'250, 5), {}});
  CHECK(reduced.find(redco::report::base64_of(png)) != std::string::npos);
  std::string const frames = redco::report::strip(std::vector(100, dot), "episode");
  CHECK(count_of(frames, "<image ") == 12);
  CHECK(frames.find(">0<") != std::string::npos);
  CHECK(frames.find(">99<") != std::string::npos);
  CHECK(well_formed(frames) == "");
}

TEST_CASE("a caption wider than its image is wrapped at spaces, in rows of at most four images") {
  auto const sheet = [](std::string const& caption) {
    std::vector<redco::report::picture_tile> tiles(9, {1, 1, 1, {9}, {}});
    tiles[4].caption = caption;
    return redco::report::contact_sheet(tiles, "all");
  };
  std::string const wide = sheet("a yellow triangle at the incomprehensibly deep bottom");
  for (char const* const line : {">a yellow<", ">triangle at<", ">the<", ">incomprehensi\u2026<", ">deep bottom<"}) {
    INFO(line);
    CHECK(wide.find(line) != std::string::npos);
  }
  CHECK(count_of(wide, "<image x=\"6\" ") == 3);  // rows
  CHECK(count_of(sheet("a cat"), "<image x=\"6\" ") == 2);
  CHECK(sheet("a cat").find(">a cat<") != std::string::npos);
  CHECK(well_formed(wide) == "");
}

TEST_CASE("a series with fewer values of y than of x is refused") {
  CHECK(refused([] {
          redco::report::curves({{"a", {1, 2}, {1}}});
        }).find("70 the series \"a\" has 2 values of x and 1 of y") == 0);
}

TEST_CASE("the boxes of a pipeline picture are at the times of their computations") {
  using namespace redco::schedule;
  pipeline_table const table = table_of({pipeline_kind::one_f_one_b, 2, 3});
  pipeline_run const run = simulate(table, {{2, 3, 1, 1}, {3, 4, 1, 2}});
  std::string const svg = redco::report::pipeline_picture(table, run, "two & unequal stages");
  CHECK(well_formed(svg) == "");
  auto const frame = frame_of(svg);
  std::vector<std::vector<double>> boxes;
  std::regex const box("<rect x=\"([^\"]*)\" y=\"([^\"]*)\" width=\"([^\"]*)\" height=\"([^\"]*)\" class=\"p-cell\"");
  for (std::sregex_iterator at(svg.begin(), svg.end(), box); at != std::sregex_iterator(); ++at)
    boxes.push_back({std::stod((*at)[1]), std::stod((*at)[2]), std::stod((*at)[3])});
  REQUIRE(boxes.size() == 12);
  double const unit = frame[2] / static_cast<double>(run.makespan);
  for (std::size_t stage = 0; stage < 2; ++stage)
    for (std::size_t i = 0; i < 6; ++i) {
      auto const& one = boxes[6 * stage + i];
      CHECK(one[0] == Approx(frame[0] + unit * static_cast<double>(run.starts[stage][i])).margin(0.4));
      CHECK(one[2] == Approx(unit * static_cast<double>(run.durations[stage][i])).margin(0.6));
      CHECK((one[1] < frame[1] + frame[3] / 2) == (stage == 0));
    }
  CHECK(count_of(svg, "<title>1B2</title>") == 1);
  CHECK(count_of(svg, "chunks in flight 2, 1") == 2);
  // A picture with rows too low for numbers.
  pipeline_table const large = table_of({pipeline_kind::one_f_one_b, 105, 200});
  CHECK(well_formed(redco::report::pipeline_picture(large, simulate(large), "large")) == "");
}

TEST_CASE("the text of a pipeline has one line per stage, and its idle share") {
  using namespace redco::schedule;
  pipeline_table const table = table_of({pipeline_kind::one_f_one_b, 2, 13});
  CHECK(redco::report::pipeline_text(table, simulate(table), "1f1b") ==
        "1f1b:\n"
        "  stage 0: 0F0 0F1 0B0 0F2 0B1 0F3 0B2 0F4 0B3 0F5 0B4 0F6 0B5 0F7 0B6 0F8 0B7 0F9 0B8 0F10 0B9 0F11 0B10 "
        "0F12 ...\n"
        "  stage 1: 1F0 1B0 1F1 1B1 1F2 1B2 1F3 1B3 1F4 1B4 1F5 1B5 1F6 1B6 1F7 1B7 1F8 1B8 1F9 1B9 1F10 1B10 1F11 "
        "1B11 ...\n"
        "  idle 7.1% of 42 units of time; chunks in flight per stage: 2, 1\n");
}

}  // namespace report_test
