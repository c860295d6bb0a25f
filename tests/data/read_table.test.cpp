#include "catch.hpp"
#include "temporary_folder.hpp"

#include <redco/data/read_table.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace std::string_literals;
using row_list = std::vector<std::vector<std::string>>;
using line_list = std::vector<std::int64_t>;
using redco::data::table;
using redco::data::table_options;

std::vector<std::string> const id_text{"id", "text"};

struct table_file {
  temporary_folder folder;
  std::filesystem::path path;
  explicit table_file(std::string const& text, std::string const& name = "t.csv") : path(folder.path / name) {
    std::ofstream(path, std::ios::binary) << text;
  }
};

table table_of(std::string const& text, std::vector<std::string> const& columns = id_text,
               table_options const& options = {}, std::string const& name = "t.csv") {
  table_file const file(text, name);
  return redco::data::read_table(file.path, columns, options);
}

/// Returns the message of the error without the path of the folder.
std::string refused_table(std::string const& text, std::vector<std::string> const& columns = id_text,
                          table_options const& options = {}, std::string const& name = "t.csv",
                          redco::exit_code code = redco::exit_code::data) {
  table_file const file(text, name);
  try {
    redco::data::read_table(file.path, columns, options);
  } catch (redco::error const& e) {
    CHECK(e.code() == code);
    std::string message = e.what();
    std::string const folder = file.folder.path.string() + "/";
    for (std::size_t at = message.find(folder); at != std::string::npos; at = message.find(folder))
      message.erase(at, folder.size());
    return message;
  }
  return "accepted";
}

}  // namespace

// Expected rows are those of Python's csv.reader(file, strict=True), without its empty rows.
TEST_CASE("quoted fields contain separators, doubled quotes and line breaks") {
  auto const quoted = table_of(
      "id,text\r\n"
      "1,\"a, \"\"b\"\"\"\r\n"
      "2,\"two\r\nlines\nand \rmore\"\r\n"
      "3,\"\"\r\n"
      "4,\r\n");
  CHECK(quoted.rows == row_list{{"1", "a, \"b\""}, {"2", "two\r\nlines\nand \rmore"}, {"3", ""}, {"4", ""}});
  CHECK(quoted.lines == line_list{2, 3, 7, 8});
  CHECK(quoted.columns == id_text);
  CHECK(quoted.skipped == 0);
  CHECK(table_of("id,text\n1,5\" disk\n2, \"no quote\"\n3,\"x\"\"y\"\n4,\"\"\"\"\n").rows ==
        row_list{{"1", "5\" disk"}, {"2", " \"no quote\""}, {"3", "x\"y"}, {"4", "\""}});
}

TEST_CASE("empty lines, a byte order mark and each kind of line end are no part of a row") {
  auto const blank = table_of("\n\nid,text\n\n1,a\n\r\n\n2,b");
  CHECK(blank.rows == row_list{{"1", "a"}, {"2", "b"}});
  CHECK(blank.lines == line_list{5, 8});
  CHECK(table_of("id,text\r1,a\r2,b\r").rows == row_list{{"1", "a"}, {"2", "b"}});
  CHECK(table_of("id,text\r1,a\r2,b\r").lines == line_list{2, 3});
  CHECK(table_of("text\n\"\"\n \nx\n", {"text"}).rows == row_list{{""}, {" "}, {"x"}});
  CHECK(table_of("\xEF\xBB\xBF\"id\",text\n\"\u00e9\",na\u00efve \u2603\n").rows ==
        row_list{{"\u00e9", "na\u00efve \u2603"}});
}

TEST_CASE("columns are chosen by name, in the order of the caller") {
  CHECK(table_of("a,b,c\n1,2,3\n4,5,6\n", {"c", "a", "c"}).rows == row_list{{"3", "1", "3"}, {"6", "4", "6"}});
  CHECK(refused_table("id,label,text\n1,2,3\n", {"id", "lable"}) ==
        "t.csv:1: no column \"lable\" among \"id\", \"label\", \"text\"; did you mean \"label\"?");
  CHECK(refused_table("\nid;label\n1;2\n", {"label"}) ==
        "t.csv:2: no column \"label\" among \"id;label\"; name one of these, or set the separator, now \",\"");
  CHECK(refused_table("a,b\n1,2\n", {"text"}, {}, "t.tsv") ==
        "t.tsv:1: no column \"text\" among \"a,b\"; name one of these, or set the separator, now a tab");
  CHECK(refused_table("a,b,a\n1,2,3\n", {"a"}) == "t.csv:1: two columns have the name \"a\"; rename one of them");
  CHECK(table_of("a,b,a\n1,2,3\n", {"b"}).rows == row_list{{"2"}});
  std::string many = "c0";
  for (int i = 1; i < 35; ++i) many += ",c" + std::to_string(i);
  std::string const refusal = refused_table(many + "\n", {"text"});
  CHECK(refusal.find("\"c30\", \"c31\" and 3 more; name one") != std::string::npos);
  CHECK(refused_table("a\n1\n", {}) == "no column of t.csv is chosen; name at least one");
}

TEST_CASE("the separator follows from the extension or the options") {
  CHECK(table_of("id\ttext\n1\t\"tab\there\"\n2\ta,b\n", id_text, {}, "t.TSV").rows ==
        row_list{{"1", "tab\there"}, {"2", "a,b"}});
  CHECK(table_of("id,text\n1,a\n", id_text, {}, "t.CSV").rows == row_list{{"1", "a"}});
  CHECK(table_of("id;text\n1;a,b\n", id_text, {.separator = ';'}, "t.txt").rows == row_list{{"1", "a,b"}});
  CHECK(table_of("id\ttext\n1\t\"open\n2\tan \"x\"\n", id_text, {.quotes = false}, "t.tsv").rows ==
        row_list{{"1", "\"open"}, {"2", "an \"x\""}});
  CHECK(refused_table("id,text\n1,a\n", id_text, {}, "t.txt") ==
        "t.txt ends in neither .csv, .tsv nor .jsonl; set the separator");
  for (char const separator : {'\n', '\r', '"', '\xE9'})
    CHECK(refused_table("id,text\n1,a\n", id_text, {.separator = separator}, "t.csv", redco::exit_code::usage) ==
          "the separator of t.csv is a line break, a quote or no ASCII character; choose another one");
  CHECK(table_of("id\"text\n1\"a\n", id_text, {.separator = '"', .quotes = false}).rows == row_list{{"1", "a"}});
}

TEST_CASE("a wrong row is named by the line where it begins") {
  CHECK(
      refused_table("id,text\n1,\"a\nb\"\n2,c,d\n") ==
      "t.csv:4: 3 fields instead of the 2 of the header, separated by \",\"; correct the row, or skip wrong rows with "
      "skip_wrong_rows");
  CHECK(refused_table("id,text\n1,a\n\"2\n3\"\n").find("t.csv:3: 1 field instead of the 2 of the header") == 0);
  CHECK(
      refused_table("id,text\n1,\"a\n\"b\n") ==
      "t.csv:2: column \"text\" has text after its closing quote (a quote inside quotes is written twice); correct the "
      "row, or skip wrong rows with skip_wrong_rows");
  CHECK(refused_table("id,text\n1,2,\"a\"b\n").find("t.csv:2: field 3 has text after its closing quote") == 0);
  CHECK(refused_table("id,text\n1,a\0\n"s) ==
        "t.csv:2: column \"text\" contains a NUL byte; correct the row, or skip wrong rows with skip_wrong_rows");
  CHECK(
      refused_table("id,\"text\"x\n1,a\n") ==
      "t.csv:1: field 2 has text after its closing quote (a quote inside quotes is written twice); correct the header");
}

TEST_CASE("an unclosed quote is named by its line and never skipped") {
  CHECK(refused_table("id,text\n1,a\n\"2\n\",\"b\n3,c\n", id_text, {.skip_wrong_rows = true}) ==
        "t.csv:4: the quote that opens column \"text\" is not closed; close it, or set quotes to false if no field is "
        "quoted");
  CHECK(refused_table("id,\"text\n").find("t.csv:1: the quote that opens field 2 is not closed") == 0);
  CHECK(refused_table("id,text\n1,2,\"").find("t.csv:2: the quote that opens field 3 is not closed") == 0);
  CHECK(table_of("id,text\n1,\"a\"").rows == row_list{{"1", "a"}});
  CHECK(refused_table("id,text\n1,\"" + std::string(std::size_t{64} << 20, '\n'), id_text, {.skip_wrong_rows = true}) ==
        "t.csv:2: the row is longer than 64 MiB; close its quotes, or split it");
}

TEST_CASE("wrong rows are skipped and counted on request") {
  auto const some = table_of("id,text\n1,a\n2\n3,\"b\"x\n\n4,\0\n5,c,\n6,d\n"s, id_text, {.skip_wrong_rows = true});
  CHECK(some.rows == row_list{{"1", "a"}, {"6", "d"}});
  CHECK(some.lines == line_list{2, 8});
  CHECK(some.skipped == 4);
  CHECK(some.first_skipped.ends_with("t.csv:3: 1 field instead of the 2 of the header, separated by \",\""));
  CHECK(
      refused_table("id,text\n1\n2,3,4\n", id_text, {.skip_wrong_rows = true}) ==
      "t.csv has no correct row; the first of 2 wrong rows: t.csv:2: 1 field instead of the 2 of the header, separated "
      "by \",\"");
  // A field of a row that is skipped does not become a part of the next row.
  CHECK(table_of("a,b\nx\ny,z\n", {"a", "b"}, {.skip_wrong_rows = true}).rows == row_list{{"y", "z"}});
}

TEST_CASE("a table without rows is refused") {
  CHECK(refused_table("") == "t.csv has no header; write the names of the columns first");
  CHECK(refused_table("\xEF\xBB\xBF\r\n\n") == "t.csv has no header; write the names of the columns first");
  CHECK(refused_table("id,text\n\n") == "t.csv has no row after its header; give a file with examples");
}

TEST_CASE("a file that is no table is refused with the way to convert it") {
  CHECK(refused_table("\x1F\x8B\x08", id_text, {}, "t.csv.gz") ==
        "table t.csv.gz is compressed by gzip: unpack it with gunzip, and give the result");
  CHECK(refused_table("\xFF\xFEi\0d\0"s).find("table t.csv is UTF-16 or UTF-32: convert it with iconv") == 0);
  for (std::string const name : {"t.xlsx", "t.XLS", "t.ods"})
    CHECK(refused_table("PK\x03\x04", id_text, {.separator = ','}, name) ==
          name + " is a spreadsheet; export it as CSV in UTF-8, and give the result");
  temporary_folder const folder;
  CHECK_THROWS_WITH(redco::data::read_table(folder / "t.csv", id_text),
                    Catch::Matchers::StartsWith("cannot read " + (folder / "t.csv").string() + ": No such file"));
}

TEST_CASE("invalid UTF-8 in a table is counted, refused above a share, and read as U+FFFD below it") {
  // 2 bytes of 25 are invalid, one of them in a column that is not read.
  std::string const latin1 = "id,text\n1,na\xEFve\ncaf\xE9,x\n\n\n";
  CHECK(
      refused_table(latin1, {"text"}) ==
      "t.csv:2, column \"text\": 0xEF at byte 2 is the first of 2 bytes of 25 that are no UTF-8: convert it with iconv "
      "-t UTF-8 and -f with its encoding, such as LATIN1, or allow this share of bytes with --invalid-utf8 0.08");
  CHECK(refused_table(latin1, {"text"}, {.invalid_utf8 = 0.079}) != "accepted");
  CHECK(table_of(latin1, {"text"}, {.invalid_utf8 = 0.08}).rows == row_list{{"na\uFFFDve"}, {"x"}});
  CHECK(refused_table("id,text\n1,2,\xE9\n2,a\n", id_text, {.skip_wrong_rows = true})
            .find("t.csv:2, field 3: 0xE9 at byte 0") == 0);
}

TEST_CASE("a table longer than the pieces in which it is read has each of its rows") {
  // Rows end at all positions relative to the pieces of 2^20 bytes, and quotes cross their borders.
  std::string text = "id,text\r\n";
  for (int i = 0; i < 60000; ++i)
    text += std::to_string(i) + ",\"a\"\"\r\n" + std::string(static_cast<std::size_t>(i % 61), 'b') + "\"\r\n";
  REQUIRE(text.size() > std::size_t{2} << 20);
  auto const all = table_of(text);
  REQUIRE(all.rows.size() == 60000);
  for (std::size_t i = 0; i < all.rows.size(); ++i) {
    if (all.rows[i] == std::vector<std::string>{std::to_string(i), "a\"\r\n" + std::string(i % 61, 'b')} &&
        all.lines[i] == static_cast<std::int64_t>(2 + 2 * i))
      continue;
    FAIL_CHECK("row " << i << " in line " << all.lines[i] << " is " << all.rows[i][0] << ", " << all.rows[i][1]);
    break;
  }
}

TEST_CASE("a field is read as a number of the asked type") {
  using redco::data::number_of;
  table const numbers{
      "t.csv", {"x"}, {{"12"}, {" -7\t"}, {"+3"}, {"2.5e-3"}, {"255"}, {"-9223372036854775808"}}, {2, 3, 4, 5, 6, 7},
      0,       ""};
  CHECK(number_of<int>(numbers, 0, 0) == 12);
  CHECK(number_of<std::int8_t>(numbers, 1, 0) == -7);
  CHECK(number_of<float>(numbers, 1, 0) == -7.0F);
  CHECK(number_of<std::uint16_t>(numbers, 2, 0) == 3);
  CHECK(number_of<double>(numbers, 2, 0) == 3.0);
  CHECK(number_of<double>(numbers, 3, 0) == 0.0025);
  CHECK(number_of<std::uint8_t>(numbers, 4, 0) == 255);
  CHECK(number_of<std::int64_t>(numbers, 5, 0) == std::numeric_limits<std::int64_t>::min());
}

TEST_CASE("a field that is no number is named by file, line and column") {
  using redco::data::number_of;
  std::vector<std::string> const wrong{"",    " ",   "x",    "3,5",    "1 2",   "0x10", "+-5", "++5",
                                       "nan", "inf", "-inf", "1e-999", "1e999", "3.",   "256"};
  table bad{"t.csv", {"id", "x"}, {}, {}, 0, ""};
  for (std::string const& field : wrong) {
    bad.rows.push_back({"0", field});
    bad.lines.push_back(10 + std::ssize(bad.rows));
  }
  for (std::size_t row = 0; row < wrong.size(); ++row) {
    CAPTURE(wrong[row]);
    std::string const where = "t.csv:" + std::to_string(11 + row) + ": column \"x\": \"" + wrong[row] + "\" is no ";
    CHECK_THROWS_WITH(number_of<std::uint8_t>(bad, row, 1), where + "whole number from 0 to 255; correct the field");
    if (row < wrong.size() - 2)
      CHECK_THROWS_WITH(number_of<float>(bad, row, 1),
                        where + "number in the range of 32-bit floating point; correct the field");
  }
  bad.rows[0][1] = std::string(61, '-');
  CHECK_THROWS_WITH(number_of<double>(bad, 0, 1),
                    "t.csv:11: column \"x\": \"" + std::string(60, '-') +
                        "...\" is no number in the range of 64-bit floating point; correct the field");
  try {
    number_of<int>(bad, 0, 1);
    FAIL_CHECK("accepted");
  } catch (redco::error const& e) {
    CHECK(e.code() == redco::exit_code::data);
  }
}

TEST_CASE("a table is read from the objects of a JSONL file") {
  auto const read =
      table_of("\xEF\xBB\xBF{\"text\": \"a\\tb\", \"id\": 7, \"more\": []}\n\n{\"id\": \"x\", \"text\": -1.5}\r\n",
               id_text, {}, "t.JSONL");
  CHECK(read.rows == row_list{{"7", "a\tb"}, {"x", "-1.5"}});
  CHECK(read.lines == line_list{1, 3});
  CHECK(table_of("{\"id\": true, \"text\": \"\"}", id_text, {}, "t.ndjson").rows == row_list{{"true", ""}});
}

TEST_CASE("a wrong line of a JSONL table is named, or skipped and counted") {
  auto const refused = [](std::string const& text) { return refused_table(text, id_text, {}, "t.jsonl"); };
  std::string const right = "{\"id\": 1, \"text\": \"a\"}\n";
  CHECK(refused(right + "{\"id\": 1, \"txt\": \"a\", \"n\": 0}\n") ==
        "t.jsonl:2: no key \"text\" among \"id\", \"txt\", \"n\"; name one of these");
  CHECK(refused(right + "\n{\"id\": 1, \"text\": null}\n") ==
        "t.jsonl:3: key \"text\" has neither a text nor a number; correct it");
  CHECK(refused("{\"id\": [1], \"text\": \"\"}\n").find("t.jsonl:1: key \"id\" has neither") == 0);
  CHECK(refused(right + "[1]\n").find("t.jsonl:2: the line is no object") == 0);
  CHECK(refused(right + "{\"id\": 1").find("t.jsonl:2:") == 0);
  CHECK(refused("\n") == "t.jsonl has no row; give a file with examples");
  CHECK(refused(right + "{\"id\": 1, \"text\": \"\xE9\"}\n").find("t.jsonl:2: 0xE9 at byte 19") == 0);
  auto const skipped = table_of("{}\n" + right + "[]\n", id_text, {.skip_wrong_rows = true}, "t.jsonl");
  CHECK(skipped.rows == row_list{{"1", "a"}});
  CHECK((skipped.skipped == 2 && skipped.first_skipped.find("t.jsonl:1: no key \"id\" among") != std::string::npos));
  CHECK(
      refused_table("{}\n", id_text, {.skip_wrong_rows = true}, "t.jsonl").find("has no correct row; the first of 1") !=
      std::string::npos);
}

TEST_CASE("rows are held out with their lines") {
  auto all = table_of("id,text\n1,a\n2,b\n\n3,c\n4,d\n5,e\n");
  auto const held_out = redco::data::hold_out_rows(all, 2);
  CHECK((held_out.rows == row_list{{"2", "b"}, {"4", "d"}} && held_out.lines == line_list{3, 6}));
  CHECK((all.rows == row_list{{"1", "a"}, {"3", "c"}, {"5", "e"}} && all.lines == line_list{2, 5, 7}));
  CHECK((held_out.columns == id_text && held_out.path == all.path));
  CHECK_THROWS_WITH(redco::data::hold_out_rows(all, 4),
                    all.path + " has 3 rows, too few to hold out every 4th; give more rows, or a file to evaluate on");
}
