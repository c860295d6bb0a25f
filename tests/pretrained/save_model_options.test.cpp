#include "catch.hpp"

#include <redco/pretrained/save_model_options.hpp>

#include <cctype>
#include <optional>
#include <string>

TEST_CASE("floating-point values are written in the requested type, else in their tensor's, else in their own") {
  using redco::safetensors::file_dtype, redco::pretrained::type_to_save;
  redco::save_model_options options{.types = {{"a", file_dtype::f16}, {"b", file_dtype::i64}, {"c", file_dtype::c64}}};
  CHECK(type_to_save(options, "a") == file_dtype::f16);
  for (std::string const name : {"b", "c", "d"}) CHECK(type_to_save(options, name) == std::nullopt);
  options.type = redco::dtype::bf16;
  for (std::string const name : {"a", "b", "d"}) CHECK(type_to_save(options, name) == file_dtype::bf16);
}

TEST_CASE("files spell the dtypes of plans by their own names, and integer types hold no weights") {
  for (int i = 0; i < 8; ++i) {
    auto const type = static_cast<redco::dtype>(i);
    redco::safetensors::file_dtype const spelled = redco::safetensors::file_dtype_of(type);
    CHECK(size_of(spelled) == redco::shape::size_of(type));
    std::string name(name_of(type));
    for (char& letter : name) letter = static_cast<char>(std::toupper(letter));
    CHECK(name_of(spelled) == name);
    bool refused = false;
    try {
      redco::pretrained::check_type_to_save({.type = type});
    } catch (redco::error const& e) {
      refused = e.code() == redco::exit_code::usage;
    }
    CHECK(refused == (name.front() != 'F' && name != "BF16"));
  }
}
