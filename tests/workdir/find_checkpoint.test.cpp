#include "catch.hpp"
#include "safetensors/support.hpp"

#include <redco/workdir/find_checkpoint.hpp>
#include <redco/workdir/read_manifest.hpp>
#include <redco/workdir/write_manifest.hpp>

#include "saved_bytes.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace {

using ckpt_test::save_bytes;

struct search {
  std::optional<redco::workdir::found_checkpoint> found;
  std::string warnings;
  ckpt_test::thrown failure;
};

search look(std::filesystem::path const& workdir, std::string const& resume = "auto", bool verify = true) {
  search result;
  redco::workdir::find_options options{.verify = verify};
  options.warn = [&](std::string const& text) { result.warnings += text + "\n"; };
  result.failure =
      ckpt_test::error_of([&] { result.found = redco::workdir::find_checkpoint(workdir, resume, options); });
  return result;
}

void flip_bit(std::filesystem::path const& path, std::uint64_t bit) {
  std::string bytes = ckpt_test::get(path);
  bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
  ckpt_test::put(path, bytes);
}

}  // namespace

TEST_CASE("a new working directory and the value none resume nothing, and a path must exist") {
  temporary_folder const folder;
  CHECK(!look(folder.path).found);
  CHECK(look(folder.path).failure.code == redco::exit_code::done);
  CHECK(look(folder.path, folder / "absent").failure.code == redco::exit_code::data);
  save_bytes(folder.path, 4);
  CHECK(!look(folder.path, "none").found);
  CHECK(look(folder.path).found->facts.step == 4);
}

TEST_CASE("a path names a checkpoint, a pointer to one or a working directory") {
  temporary_folder const folder;
  save_bytes(folder.path, 4, "run-a", {"min_loss"});
  save_bytes(folder.path, 10);
  CHECK(look("elsewhere", folder / "ckpts/step_4").found->facts.step == 4);
  CHECK(look("elsewhere", folder / "ckpts/min_loss").found->facts.step == 4);
  CHECK(look("elsewhere", folder / "ckpts/last").found->directory.filename() == "step_10");
  CHECK(look("elsewhere", folder.path).found->facts.step == 10);
}

TEST_CASE("a damaged checkpoint is moved aside with a warning, and the previous one is used") {
  struct damage {
    std::string file;
    void (*act)(std::filesystem::path const&);
  };
  std::vector<damage> all{
      {"parameters-0of1.safetensors", [](auto const& path) { std::filesystem::remove(path); }},
      {"parameters-0of1.safetensors",
       [](auto const& path) { std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1); }},
      {"parameters-0of1.safetensors", [](auto const& path) { std::filesystem::resize_file(path, 0); }},
      {"parameters-0of1.safetensors",
       [](auto const& path) { flip_bit(path, std::filesystem::file_size(path) * 8 - 5); }},
      {"optimizer-0of1.safetensors",
       [](auto const& path) {
         std::filesystem::copy_file(path.parent_path() / "masters-0of1.safetensors", path,
                                    std::filesystem::copy_options::overwrite_existing);
       }},
      {"masters-0of1.safetensors",
       [](auto const& path) {
         std::filesystem::rename(path, path.parent_path().parent_path() / "elsewhere");
         std::filesystem::create_symlink("../elsewhere", path);
       }},
      {"manifest.json", [](auto const& path) { std::filesystem::remove(path); }},
      {"manifest.json", [](auto const& path) { std::filesystem::resize_file(path, 100); }},
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    temporary_folder const folder;
    for (std::int64_t const step : {3, 5, 12}) save_bytes(folder.path, step);
    all[i].act(folder / "ckpts/step_12/" += all[i].file);
    auto const result = look(folder.path);
    INFO("damage " << i << ": " << result.warnings << result.failure.text);
    REQUIRE(result.found);
    CHECK(result.found->facts.step == 5);
    CHECK(ckpt_test::has(result.warnings, all[i].file));
    CHECK(ckpt_test::has(result.warnings, "falling back to"));
    CHECK(std::filesystem::exists(folder / "ckpts/.corrupt-step_12"));
    CHECK(look(folder.path).found->facts.step == 5);
    CHECK(look(folder.path, folder / "ckpts/.corrupt-step_12").failure.code == redco::exit_code::data);
  }
}

TEST_CASE("a damaged checkpoint of another workdir is skipped by --resume PATH and stays unchanged") {
  temporary_folder const folder, own;
  for (std::int64_t const step : {3, 5, 12}) save_bytes(folder.path, step);
  auto const damaged = folder / "ckpts/step_12/parameters-0of1.safetensors";
  flip_bit(damaged, std::filesystem::file_size(damaged) * 8 - 5);
  std::filesystem::create_directory(folder / "ckpts/.tmp-step_13-run-a");
  auto const content = [&] {
    std::map<std::string, std::string> all;
    for (auto const& entry : std::filesystem::recursive_directory_iterator(folder.path))
      all[entry.path().string()] = entry.is_symlink()        ? std::filesystem::read_symlink(entry.path()).string()
                                   : entry.is_regular_file() ? ckpt_test::get(entry.path())
                                                             : "";
    return all;
  };
  auto const before = content();
  auto const result = look(own.path, folder.path);
  REQUIRE(result.found);
  CHECK(result.found->facts.step == 5);
  CHECK(ckpt_test::has(result.warnings, "step_12 is damaged"));
  CHECK(content() == before);
}

TEST_CASE("a checkpoint of a newer format is refused, and is neither moved aside nor skipped") {
  temporary_folder const folder;
  for (std::int64_t const step : {3, 5}) save_bytes(folder.path, step);
  auto const path = folder / "ckpts/step_5/manifest.json";
  redco::workdir::manifest newer = redco::workdir::read_manifest(path.parent_path());
  newer.format = redco::workdir::manifest::newest_format + 1;
  ckpt_test::put(path, redco::workdir::write_manifest(newer));
  for (std::string const& resume : {std::string("auto"), (folder / "ckpts/step_5").string()}) {
    auto const result = look(folder.path, resume);
    CHECK(result.failure.code == redco::exit_code::data);
    CHECK(ckpt_test::has(result.failure.text, "checkpoint format 3"));
    CHECK(result.warnings.empty());
    CHECK(std::filesystem::exists(path));
  }
}

TEST_CASE("a checkpoint under another step's name is not taken for that step") {
  temporary_folder const folder;
  for (std::int64_t const step : {3, 7}) save_bytes(folder.path, step);
  std::filesystem::rename(folder / "ckpts/step_7", folder / "ckpts/step_8");
  auto const result = look(folder.path);
  REQUIRE(result.found);
  CHECK(result.found->facts.step == 3);
  CHECK(ckpt_test::has(result.warnings, "says step 7"));
  std::filesystem::rename(folder / "ckpts/step_3", folder / "mine");
  CHECK(look("elsewhere", folder / "mine").found->facts.step == 3);
}

TEST_CASE("any flipped bit of any file is found") {
  temporary_folder const folder;
  save_bytes(folder.path, 3);
  auto const directory = folder / "ckpts/step_3";
  std::uint64_t bits = 0;
  int found = 0;
  for (std::string const name :
       {"parameters-0of1.safetensors", "optimizer-0of1.safetensors", "masters-0of1.safetensors"}) {
    std::uint64_t const size = std::filesystem::file_size(directory / name) * 8;
    for (std::uint64_t bit = 0; bit < size; bit += 37) {
      flip_bit(directory / name, bit);
      ++bits;
      found += ckpt_test::error_of([&] { redco::workdir::check_checkpoint(directory); }).code == redco::exit_code::data;
      flip_bit(directory / name, bit);
    }
  }
  CHECK(bits > 300);
  CHECK(found == static_cast<int>(bits));
  CHECK(ckpt_test::error_of([&] { redco::workdir::check_checkpoint(directory); }).code == redco::exit_code::done);
}

TEST_CASE("a run that has saved never starts from scratch") {
  temporary_folder const folder;
  save_bytes(folder.path, 3);
  ckpt_test::put(folder / "ckpts/last_ckpt.txt", "rubbish");
  auto const unreadable = look(folder.path);
  CHECK(unreadable.found->facts.step == 3);
  CHECK(ckpt_test::has(unreadable.warnings, "last_ckpt.txt is unreadable"));
  std::filesystem::remove_all(folder / "ckpts/step_3");
  CHECK(look(folder.path).failure.code == redco::exit_code::data);
  std::filesystem::remove(folder / "ckpts/last_ckpt.txt");
  CHECK(look(folder.path).failure.code == redco::exit_code::done);
  std::filesystem::create_directory(folder / "ckpts/step_8");
  for (int i = 0; i < 2; ++i) CHECK(look(folder.path).failure.code == redco::exit_code::data);
}

TEST_CASE("the newest checkpoint is the current run's latest, even if another run's step is higher") {
  temporary_folder const folder;
  save_bytes(folder.path, 500, "run-old");
  save_bytes(folder.path, 10, "run-new");
  CHECK(look(folder.path).found->facts.step == 10);
  save_bytes(folder.path, 20, "run-new");
  ckpt_test::put(folder / "ckpts/last_ckpt.txt", "step_10\n");
  CHECK(look(folder.path).found->facts.step == 20);
}

TEST_CASE("without verification sizes and headers are still checked") {
  temporary_folder const folder;
  save_bytes(folder.path, 3);
  auto const path = folder / "ckpts/step_3/parameters-0of1.safetensors";
  flip_bit(path, std::filesystem::file_size(path) * 8 - 5);
  CHECK(look(folder.path, "auto", false).found);
  flip_bit(path, 100);
  CHECK(!look(folder.path, "auto", false).found);
}
