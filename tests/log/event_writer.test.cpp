#include "catch.hpp"

#include "event_records.hpp"
#include "temporary_folder.hpp"

#include <redco/log/event_writer.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

using run_test::field_reader;
using run_test::little_endian;
using run_test::records_of;

namespace {

redco::log::event_writer_options at_second(double seconds) {
  redco::log::event_writer_options options;
  options.now = [seconds] {
    return std::chrono::system_clock::time_point(std::chrono::microseconds(std::llround(seconds * 1e6)));
  };
  return options;
}

}  // namespace

TEST_CASE("a TFRecord is length, checksum, payload, checksum") {
  std::string const record = redco::log::tfrecord("abc");
  REQUIRE(record.size() == 19);
  CHECK(little_endian(std::string_view(record).substr(0, 8)) == 3);
  CHECK(record.substr(12, 3) == "abc");
  CHECK(records_of(record + redco::log::tfrecord("")) == std::vector<std::string>{"abc", ""});
}

TEST_CASE("an event file holds its version, then each step's scalars") {
  temporary_folder folder;
  redco::log::event_writer writer(folder.path, at_second(1700000000.25));
  redco::log::event_writer::named_value const values[] = {{"train/loss", 2.5}, {"train/lr", 3e-4}, {"x", std::nan("")}};
  writer.scalars(7, values);
  writer.scalar("eval/loss", -1e30, std::int64_t{1} << 40);

  auto const records = records_of(content_of(writer.path()));
  REQUIRE(records.size() == 3);
  field_reader const version(records[0]);
  CHECK(version.bytes(3) == "brain.Event:2");
  CHECK(version.real(1) == 1700000000.25);

  field_reader const event(records[1]);
  CHECK(event.real(1) == 1700000000.25);
  CHECK(event.number(2) == 7);
  field_reader const summary = event.message(5);
  REQUIRE(summary.fields.at(1).size() == 3);
  CHECK(summary.message(1, 0).bytes(1) == "train/loss");
  CHECK(summary.message(1, 0).real(2) == 2.5);
  CHECK(summary.message(1, 1).bytes(1) == "train/lr");
  CHECK(summary.message(1, 1).real(2) == static_cast<double>(3e-4F));
  CHECK(std::isnan(summary.message(1, 2).real(2)));

  field_reader const last(records[2]);
  CHECK(last.number(2) == std::uint64_t{1} << 40);
  CHECK(last.message(5).message(1).real(2) == static_cast<double>(-1e30F));
  CHECK(writer.lost() == 0);
}

TEST_CASE("an event file holds texts as TensorBoard's text plugin wants them") {
  temporary_folder folder;
  redco::log::event_writer writer(folder.path);
  std::string const long_text(300, 'q');
  writer.text("sample", long_text, 12);
  auto const value = field_reader(records_of(content_of(writer.path())).at(1)).message(5).message(1);
  CHECK(value.bytes(1) == "sample");
  CHECK(value.message(8).number(1) == 7);                        // DT_STRING
  CHECK(value.message(8).message(2).message(2).number(1) == 1);  // of shape [1]
  CHECK(value.message(8).bytes(8) == long_text);
  CHECK(value.message(9).message(1).bytes(1) == "text");
  CHECK(value.message(9).number(4) == 2);  // DATA_CLASS_TENSOR
}

TEST_CASE("an event file holds images with their size") {
  temporary_folder folder;
  redco::log::event_writer writer(folder.path);
  writer.image("digit", {.width = 3, .height = 2, .channels = 1, .png = "\x89PNG..."}, 7);
  field_reader const event(records_of(content_of(writer.path())).at(1));
  CHECK(event.number(2) == 7);
  auto const value = event.message(5).message(1);
  CHECK(value.bytes(1) == "digit");
  CHECK(value.message(4).number(1) == 2);
  CHECK(value.message(4).number(2) == 3);
  CHECK(value.message(4).number(3) == 1);
  CHECK(value.message(4).bytes(4) == "\x89PNG...");
}

TEST_CASE("event files are named by time, host, process and number, and a resumed run opens a new file") {
  temporary_folder folder;
  redco::log::event_writer first(folder.path / "new" / "folder", at_second(1700000000));
  auto options = at_second(1700000000);
  options.purge_from_step = 400;
  redco::log::event_writer second(folder.path / "new" / "folder", options);
  // A run without records leaves no file
  CHECK_FALSE(std::filesystem::exists(folder.path / "new"));
  first.scalar("loss", 1, 1);
  std::string const name = first.path().filename().string();
  CHECK(name.rfind("events.out.tfevents.1700000000.", 0) == 0);
  std::string const tail = "." + std::to_string(::getpid()) + ".0";
  CHECK(name.substr(name.size() - tail.size()) == tail);

  second.scalar("loss", 1, 400);
  CHECK(second.path().string() == first.path().string().substr(0, first.path().string().size() - 1) + "1");
  auto const records = records_of(content_of(second.path()));
  REQUIRE(records.size() == 3);
  field_reader const session(records[1]);
  CHECK(session.number(2) == 400);
  // SessionLog START: steps of older files from 400 on are void
  CHECK(session.message(7).number(1) == 1);
}

TEST_CASE("an event file cut at any byte is a readable prefix") {
  temporary_folder folder;
  redco::log::event_writer writer(folder.path);
  for (int step = 0; step < 5; ++step) writer.scalar("loss", 1.0 / (1 + step), step);
  writer.text("note", "three words here", 5);
  std::string const whole = content_of(writer.path());
  auto const all = records_of(whole);
  REQUIRE(all.size() == 7);
  std::size_t seen = 0;
  for (std::size_t bytes = 0; bytes <= whole.size(); ++bytes) {
    auto const records = records_of(std::string_view(whole).substr(0, bytes));
    bool const grew = records.size() >= seen && records.size() <= seen + 1;
    bool const prefix = std::equal(records.begin(), records.end(), all.begin());
    if (!grew || !prefix) FAIL("cut at byte " << bytes);
    seen = records.size();
  }
  CHECK(seen == 7);
}

TEST_CASE("an event file that cannot be written loses records and warns once, and the run continues") {
  temporary_folder folder;
  std::vector<std::string> warnings;
  redco::log::event_writer_options options;
  options.warn = [&](std::string const& text) { warnings.push_back(text); };
  std::ofstream(folder.path / "file") << "not a folder";
  redco::log::event_writer writer(folder.path / "file", options);
  writer.scalar("loss", 1, 1);
  writer.scalar("loss", 1, 2);
  CHECK(writer.lost() == 2);
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].find("cannot write " + writer.path().string() + ": Not a directory") == 0);

  std::filesystem::remove(folder.path / "file");  // once the file can be written again, it is
  std::filesystem::create_directory(folder.path / "file");
  writer.scalar("loss", 1, 3);
  CHECK(writer.lost() == 2);
  auto const records = records_of(content_of(writer.path()));
  REQUIRE(records.size() == 2);
  CHECK(field_reader(records[0]).bytes(3) == "brain.Event:2");
  CHECK(field_reader(records[1]).number(2) == 3);
}

TEST_CASE("two threads may write events at once") {
  temporary_folder folder;
  redco::log::event_writer writer(folder.path);
  auto work = [&](std::string_view tag) {
    for (int step = 0; step < 100; ++step) writer.scalar(tag, step, step);
  };
  std::thread other(work, "other");
  work("mine");
  other.join();
  CHECK(records_of(content_of(writer.path())).size() == 201);
}

TEST_CASE("crc32c gives the published check values") {
  static_assert(redco::log::crc32c("") == 0);
  static_assert(redco::log::crc32c("123456789") == 0xE3069283U);
  CHECK(redco::log::crc32c(std::string(32, '\0')) == 0x8A9136AAU);  // RFC 3720, appendix B.4
  CHECK(redco::log::crc32c(std::string(32, '\xFF')) == 0x62A8AB43U);
  std::string rising, falling;
  for (int value = 0; value < 32; ++value) {
    rising += static_cast<char>(value);
    falling += static_cast<char>(31 - value);
  }
  CHECK(redco::log::crc32c(rising) == 0x46DD794EU);
  CHECK(redco::log::crc32c(falling) == 0x113FDB5CU);
}

TEST_CASE("crc32c of a text equals crc32c of its parts in sequence") {
  static_assert(redco::log::crc32c("456789", redco::log::crc32c("123")) == redco::log::crc32c("123456789"));
}
