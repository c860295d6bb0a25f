#pragma once

// Dates and numbers as people write them, with the form that a computer expects:
// "the twenty-third of March nineteen eighty-four" and "1984-03-23", "four thousand and twelve" and
// "4012".

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace dates {

/// A phrase and its short form.
using example = std::vector<std::string>;

/// Returns a number from 0 to 99 in words: "eighty-four".
inline std::string below_hundred(int number) {
  static constexpr std::array<char const*, 20> words = {
      "zero", "one",    "two",    "three",    "four",     "five",    "six",     "seven",     "eight",    "nine",
      "ten",  "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
  static constexpr std::array<char const*, 8> tens = {"twenty", "thirty",  "forty",  "fifty",
                                                      "sixty",  "seventy", "eighty", "ninety"};
  if (number < 20) return words[static_cast<std::size_t>(number)];
  std::string const ten = tens[static_cast<std::size_t>(number / 10 - 2)];
  return number % 10 == 0 ? ten : ten + "-" + below_hundred(number % 10);
}

/// Returns a number from 0 to 999,999 in words. `joint` is the text between the hundreds and the
/// rest: " " or " and ".
inline std::string in_words(int number, std::string const& joint) {
  if (number < 100) return below_hundred(number);
  std::string words;
  if (number >= 1000) words = in_words(number / 1000, joint) + " thousand";
  if (number / 100 % 10 > 0) words += (words.empty() ? "" : " ") + below_hundred(number / 100 % 10) + " hundred";
  return number % 100 == 0 ? words : words + joint + below_hundred(number % 100);
}

/// Returns a day of the month as an ordinal in words: "twenty-third".
inline std::string ordinal(int day) {
  static constexpr std::array<std::pair<int, char const*>, 7> irregular = {
      {{1, "first"}, {2, "second"}, {3, "third"}, {5, "fifth"}, {8, "eighth"}, {9, "ninth"}, {12, "twelfth"}}};
  if (day > 20 && day % 10 > 0) return below_hundred(day / 10 * 10) + "-" + ordinal(day % 10);
  for (auto const& [number, word] : irregular)
    if (number == day) return word;
  return day % 10 == 0 && day > 10 ? (day == 20 ? "twentieth" : "thirtieth") : below_hundred(day) + "th";
}

/// Returns a day of the month with its ending: "23rd".
inline std::string with_ending(int day) {
  bool const teen = day / 10 == 1;
  return std::to_string(day) + (teen || day % 10 > 3 || day % 10 == 0 ? "th"
                                : day % 10 == 1                       ? "st"
                                : day % 10 == 2                       ? "nd"
                                                                      : "rd");
}

/// Returns a year from 1900 to 2099 as it is read: "nineteen eighty-four", "nineteen oh five", "two
/// thousand and four".
inline std::string year_in_words(int year) {
  if (year / 10 == 200) return in_words(year, " and ");
  std::string const century = below_hundred(year / 100);
  int const rest = year % 100;
  return century + (rest == 0 ? " hundred" : rest < 10 ? " oh " + below_hundred(rest) : " " + below_hundred(rest));
}

/// Writes a number or a date in one of many ways.
class writer {
 public:
  explicit writer(unsigned seed) : random_(seed) {}

  /// Returns a random example: a number in one of three, a date from 1900 to 2099 in two of three.
  example next() { return one_of(3) == 0 ? number() : date(); }

 private:
  /// Returns a random integer from 0 to `count` - 1.
  int one_of(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }

  example number() {
    int const value = one_of(one_of(2) == 0 ? 10000 : 1000000);
    std::string const joint = one_of(2) == 0 ? " " : " and ", short_form = std::to_string(value);
    // "twelve hundred and six"
    if (value > 1000 && value < 10000 && value / 100 % 10 > 0 && one_of(3) == 0)
      return {below_hundred(value / 100) + " hundred" + (value % 100 == 0 ? "" : joint + below_hundred(value % 100)),
              short_form};
    return {in_words(value, joint), short_form};
  }

  example date() {
    static constexpr std::array<char const*, 12> months = {"January",   "February", "March",    "April",
                                                           "May",       "June",     "July",     "August",
                                                           "September", "October",  "November", "December"};
    using namespace std::chrono;
    sys_days const first = sys_days{year{1900} / January / 1}, end = sys_days{year{2100} / January / 1};
    year_month_day const on{first + days{one_of(static_cast<int>((end - first).count()))}};
    int const of_year = static_cast<int>(on.year()), of_month = static_cast<int>(static_cast<unsigned>(on.month())),
              of_day = static_cast<int>(static_cast<unsigned>(on.day()));
    std::string month = months[static_cast<std::size_t>(of_month - 1)];
    if (one_of(4) == 0) month.resize(3);
    std::string const digits = std::to_string(of_year), shown = one_of(2) == 0 ? digits : year_in_words(of_year);
    std::string const named = one_of(2) == 0 ? ordinal(of_day) : with_ending(of_day);
    auto const two = [](int value) { return (value < 10 ? "0" : "") + std::to_string(value); };
    std::array<std::string, 5> const phrases = {
        "the " + named + " of " + month + " " + shown, month + " " + named + ", " + shown,
        month + " the " + named + ", " + shown, std::to_string(of_day) + " " + month + " " + digits,
        month + " " + std::to_string(of_day) + ", " + shown};
    return {phrases[static_cast<std::size_t>(one_of(5))], digits + "-" + two(of_month) + "-" + two(of_day)};
  }

  std::mt19937 random_;
};

/// Examples in two lists. No short form, and so no phrase, occurs in both lists.
struct split {
  std::vector<example> train, held_out;
};

/// Returns `train` examples for training and `held_out` examples for evaluation.
inline split examples(std::int64_t train, std::int64_t held_out, std::uint64_t seed) {
  writer source(static_cast<unsigned>(seed));
  split all;
  std::set<std::string> kept;
  while (std::ssize(all.held_out) < held_out) kept.insert(all.held_out.emplace_back(source.next())[1]);
  while (std::ssize(all.train) < train)
    if (example one = source.next(); !kept.contains(one[1])) all.train.push_back(std::move(one));
  return all;
}

}  // namespace dates
