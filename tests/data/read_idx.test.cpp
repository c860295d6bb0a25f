#include "catch.hpp"
#include "temporary_folder.hpp"

#include <redco/data/read_idx.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

using namespace std::string_literals;
using redco::data::idx_array;

struct idx_file {
  temporary_folder folder;
  std::filesystem::path path = folder.path / "t-idx";
  explicit idx_file(std::string const& bytes) { std::ofstream(path, std::ios::binary) << bytes; }
};

idx_array idx_of(std::string const& bytes) {
  idx_file const file(bytes);
  return redco::data::read_idx(file.path);
}

std::string refused_idx(std::string const& bytes) {
  idx_file const file(bytes);
  try {
    redco::data::read_idx(file.path);
  } catch (redco::error const& e) {
    CHECK(e.code() == redco::exit_code::data);
    std::string const message = e.what();
    std::size_t const folder = message.find(file.folder.path.string());
    return message.substr(0, folder) + message.substr(folder + file.folder.path.string().size() + 1);
  }
  return "accepted";
}

std::string const idx_front = "\0\0\x08"s;

}  // namespace

// The bytes are those of Python's struct.pack(">BBBB3I6B", 0, 0, 8, 3, 1, 2, 3, *range(1, 7)).
TEST_CASE("an IDX file gives its shape and elements") {
  std::string const bytes = "\x00\x00\x08\x03\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00\x03\x01\x02\x03\x04\x05\x06"s;
  idx_array const images = idx_of(bytes);
  CHECK(images.shape == std::vector<std::int64_t>{1, 2, 3});
  CHECK(images.as<std::uint8_t>() == std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6});
  CHECK(images.path.ends_with("t-idx"));
}

// The bytes are those of Python's struct.pack with ">".
TEST_CASE("each type of IDX is read from its big-endian bytes") {
  auto const of_three = [](char type, std::string const& bytes) {
    idx_array read_back = idx_of("\0\0"s + type + "\1\0\0\0\3"s + bytes);
    CHECK(read_back.shape == std::vector<std::int64_t>{3});
    return read_back;
  };
  CHECK(of_three(8, "\x00\x07\xFF"s).as<std::uint8_t>() == std::vector<std::uint8_t>{0, 7, 255});
  CHECK(of_three(9, "\x80\x00\x7F"s).as<std::int8_t>() == std::vector<std::int8_t>{-128, 0, 127});
  CHECK(of_three(11, "\xFF\xFE\x01\x02\x7F\xFF"s).as<std::int16_t>() == std::vector<std::int16_t>{-2, 258, 32767});
  CHECK(of_three(12, "\xFF\xFE\xEE\x90\x00\x00\x00\x01\x7F\xFF\xFF\xFF"s).as<std::int32_t>() ==
        std::vector<std::int32_t>{-70000, 1, 2147483647});
  CHECK(of_three(13, "\x3E\x20\x00\x00\xBF\xC0\x00\x00\x40\x40\x00\x00"s).as<float>() ==
        std::vector<float>{0.15625F, -1.5F, 3.0F});
  CHECK(
      of_three(14, "\x3F\xB9\x99\x99\x99\x99\x99\x9A\xC0\x04\x00\x00\x00\x00\x00\x00\x7E\x37\xE4\x3C\x88\x00\x75\x9C"s)
          .as<double>() == std::vector<double>{0.1, -2.5, 1e300});
}

TEST_CASE("elements of another type than asked are refused with both names") {
  idx_file const file(idx_front + "\1\0\0\0\1\7"s);
  idx_array const labels = redco::data::read_idx(file.path);
  std::string const refusal = file.path.string() + " has elements of type u8, not ";
  CHECK_THROWS_WITH(labels.as<std::int8_t>(), refusal + "i8; read them as that type");
  CHECK_THROWS_WITH(labels.as<double>(), refusal + "f64; read them as that type");
}

TEST_CASE("a file that is no IDX file is refused") {
  CHECK(refused_idx("") ==
        "t-idx is no IDX file: it has 0 bytes, fewer than 4; give the unpacked file of the data set");
  CHECK(
      refused_idx("\x89PNG\r\n") ==
      "t-idx is no IDX file: it begins with the bytes 89 50 instead of 00 00; give the unpacked file of the data set");
  CHECK(refused_idx("\0\1\x08\1\0\0\0\1\7"s).find("begins with the bytes 00 01 instead") != std::string::npos);
  CHECK(refused_idx("\x1F\x8B\x08\x08") ==
        "IDX file t-idx is compressed by gzip: unpack it with gunzip, and give the result");
  CHECK(
      refused_idx("\0\0\x0A\1\0\0\0\1\7"s) ==
      "t-idx has elements of the unknown type 0A; convert them to 08 (u8), 09 (i8), 0B (i16), 0C (i32), 0D (f32) or 0E "
      "(f64)");
  CHECK(refused_idx("\0\0\xFE\xFF"s).find("t-idx has elements of the unknown type FE") == 0);
  CHECK(refused_idx(idx_front + "\0\7"s) == "t-idx has no dimension (byte 3 is 00); give a file with examples");
  CHECK(refused_idx(idx_front + "\2\0\0\0\2\0\0\0\0"s) ==
        "t-idx has no element: its shape is 2 x 0; give a file with examples");
  temporary_folder const folder;
  CHECK_THROWS_AS(redco::data::read_idx(folder / "absent"), redco::error);
}

TEST_CASE("an IDX file shorter or longer than its shape is refused") {
  CHECK(refused_idx(idx_front + "\1\0\0\0"s) ==
        "t-idx has 7 bytes, fewer than the 8 of a header with 1 dimension; copy or download it again");
  CHECK(refused_idx(idx_front + "\3\0\0\0\1\0\0\0\1"s) ==
        "t-idx has 12 bytes, fewer than the 16 of a header with 3 dimensions; copy or download it again");
  CHECK(refused_idx(idx_front + "\2\0\0\0\2\0\0\0\3\1\2\3\4\5"s) ==
        "t-idx has 17 bytes, but its shape 2 x 3 of u8 needs 18; copy or download it again");
  CHECK(refused_idx(idx_front + "\1\0\0\0\1\1\2"s) ==
        "t-idx has 10 bytes, but its shape 1 of u8 needs 9; copy or download it again");
  CHECK(refused_idx("\0\0\x0B\1\0\0\0\2\0\1\0"s) ==
        "t-idx has 11 bytes, but its shape 2 of i16 needs 12; copy or download it again");
}

TEST_CASE("a shape whose product overflows is refused before memory is allocated") {
  std::string const most = "\xFF\xFF\xFF\xFF";
  CHECK(refused_idx(idx_front + "\1"s + most) ==
        "t-idx has 8 bytes, but its shape 4294967295 of u8 needs 4294967303; copy or download it again");
  // 65536^4 = 2^64, which is 0 modulo 2^64
  std::string const two_16 = "\0\1\0\0"s;
  CHECK(
      refused_idx(idx_front + "\4"s + two_16 + two_16 + two_16 + two_16) ==
      "t-idx has 20 bytes, but its shape 65536 x 65536 x 65536 x 65536 of u8 needs over 2^63; copy or download it again");
  // 2^61 elements of 8 bytes
  CHECK(refused_idx("\0\0\x0E\2\x80\0\0\0\x40\0\0\0"s).find("of f64 needs over 2^63") != std::string::npos);
}
