#include "catch.hpp"
#include "safetensors/support.hpp"

#include <redco/workdir/read_manifest.hpp>
#include <redco/workdir/write_manifest.hpp>
#include <redco/safetensors/xxh64.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

namespace {

redco::workdir::manifest rich_manifest() {
  redco::workdir::manifest facts;
  facts.run = "5f0c-aa";
  facts.step = 1200;
  facts.branch = {"/scratch/a%20run/ckpts/min_loss", 800};
  facts.epoch = 2;
  facts.epoch_position = 200;
  facts.mesh = {.dp = 3, .tp = 2};
  facts.rng = {std::numeric_limits<std::uint64_t>::max(), 1200};
  facts.data = {43, 5000};
  facts.best = {{"min_loss", {2.1300000000000003e-20, 1000}}, {"max \"f1\" \\", {-7.0, 800}}};
  facts.patience = {"min_loss", 3};
  facts.interrupted = true;
  facts.updates = {{"actor", 19200}, {"critic", 1190}};
  facts.names = {"epoch_2", "min_loss"};
  facts.digests = {{"program file", "00ff00ff00ff00ff"}, {"training examples", "0123456789abcdef"}};
  facts.config = {{"global_batch", "8"}, {"optimizer.lr.peak", "0.001"}};
  facts.tensors["h.0.mlp.up.weight"] = {
      redco::safetensors::file_dtype::bf16,
      {5, 7},
      {{"parameters-0of2.safetensors", {0, 0}, {5, 4}}, {"parameters-1of2.safetensors", {0, 4}, {5, 3}}}};
  facts.tensors["scalar/\xc3\xa4"] = {
      redco::safetensors::file_dtype::i64, {}, {{"parameters-0of2.safetensors", {}, {}}}};
  facts.tensors["none"] = {redco::safetensors::file_dtype::f32, {0, 3}, {}};
  facts.files["parameters-0of2.safetensors"] = {524416, 0xfedcba9876543210};
  facts.files["parameters-1of2.safetensors"] = {1, 0};
  return facts;
}

/// Returns the text in format 1, without a hash, so that parsing itself finds mistakes.
std::string unsealed(redco::workdir::manifest facts) {
  facts.format = 1;
  std::string const text = redco::workdir::write_manifest(facts);
  return text.substr(0, text.rfind(",\n \"manifest_xxh64\"")) + "\n}\n";
}

std::string replaced(std::string text, std::string const& from, std::string const& to) {
  auto const at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a manifest is read back unchanged, and its text is deterministic") {
  auto const facts = rich_manifest();
  std::string const text = redco::workdir::write_manifest(facts);
  CHECK(redco::workdir::read_manifest(text, "m") == facts);
  CHECK(redco::workdir::write_manifest(redco::workdir::read_manifest(text, "m")) == text);
  CHECK(text.find("\"format\"") < text.find("\"redco\""));
  CHECK(ckpt_test::has(text, "\"xxh64\": \"fedcba9876543210\""));
  std::string const config = "global_batch=8\noptimizer.lr.peak=0.001\n";
  CHECK(ckpt_test::has(
      text, "\"config_xxh64\": \"" + redco::safetensors::xxh64::text_of(redco::safetensors::xxh64::of(config)) + "\""));
  std::string const end = ",\n \"manifest_xxh64\": \"";
  std::size_t const seal = text.rfind(end);
  REQUIRE(seal != std::string::npos);
  CHECK(text.substr(seal) ==
        end + redco::safetensors::xxh64::text_of(redco::safetensors::xxh64::of(text.substr(0, seal))) + "\"\n}\n");
}

TEST_CASE("the manifest of the documentation is read, and keys that are added to the format are ignored") {
  std::string const text =
      R"({"format":1,"redco":"0.1.0","run":"<uuid>","step":1200,"epoch":2,"epoch_position":200,"mesh":{"dp":2,"mp":2},
    "rng":{"seed":42,"step":1200},"data":{"seed":42,"examples":5000},"best":{"min_loss":[2.13,1000]},
    "config_xxh64":"0123456789abcdef","later":[1],
    "tensors":{"h.0.mlp.up.weight":{"dtype":"F32","shape":[256,512],"new":{},
    "parts":[{"file":"parameters-0of2.safetensors","offset":[0,0],"shape":[256,512]}]}},
    "files":{"parameters-0of2.safetensors":{"bytes":524416,"xxh64":"00000000000000ff"}}})";
  auto const facts = redco::workdir::read_manifest(text, "m");
  CHECK(facts.mesh == redco::mesh{.dp = 2, .tp = 2});
  CHECK(facts.best.at("min_loss") == redco::workdir::manifest::best_value{2.13, 1000});
  // Defaults of keys that came later
  CHECK((facts.branch == redco::workdir::manifest::branch_facts{} && facts.digests.empty()));
  CHECK((facts.patience.stale == 0 && !facts.interrupted && facts.updates.empty()));
  CHECK(facts.tensors.at("h.0.mlp.up.weight").parts.at(0).shape == std::vector<std::int64_t>{256, 512});
  // The hash came with format 2, which is refused without it.
  auto const bare = ckpt_test::error_of([&] {
    redco::workdir::read_manifest(
        replaced(replaced(text, "\"later\":[1]", "\"names\":[],\"config\":{}"), "\"format\":1", "\"format\":2"), "m");
  });
  CHECK(bare.code == redco::exit_code::data);
  CHECK(ckpt_test::has(bare.text, "does not end with its XXH64"));
}

TEST_CASE("a mesh is written under the keys of the first format, and further axes only if they have ranks") {
  auto facts = rich_manifest();
  CHECK(ckpt_test::has(redco::workdir::write_manifest(facts), "\"mesh\": {\n  \"dp\": 3,\n  \"mp\": 2\n }"));
  facts.mesh = {.pp = 2, .dp = 3, .ds = 13, .ep = 5, .cp = 11, .tp = 7};
  CHECK(redco::workdir::read_manifest(redco::workdir::write_manifest(facts), "m").mesh == facts.mesh);
}

TEST_CASE("a manifest with any one bit of it flipped is refused") {
  std::string const text = redco::workdir::write_manifest(rich_manifest());
  std::size_t accepted = 0, elsewhere = 0;
  for (std::size_t bit = 0; bit < 8 * text.size(); ++bit) {
    std::string flipped = text;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    auto const failure = ckpt_test::error_of([&] { redco::workdir::read_manifest(flipped, "m"); });
    accepted += failure.code == redco::exit_code::done;
    elsewhere += failure.code != redco::exit_code::done && failure.code != redco::exit_code::data;
  }
  CHECK(text.size() > 1000);
  CHECK(accepted == 0);
  CHECK(elsewhere == 0);
}

TEST_CASE("impossible numbers are refused, even if the hash is right") {
  auto const refused = [](auto change, std::string const& why) {
    redco::workdir::manifest facts = rich_manifest();
    change(facts);
    auto const failure =
        ckpt_test::error_of([&] { redco::workdir::read_manifest(redco::workdir::write_manifest(facts), "m"); });
    INFO(failure.text);
    CHECK(failure.code == redco::exit_code::data);
    CHECK(ckpt_test::has(failure.text, why));
  };
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  refused([](redco::workdir::manifest& facts) { facts.step = most; }, "\"step\"");
  refused([](redco::workdir::manifest& facts) { facts.epoch = std::int64_t{1} << 31; }, "\"epoch\"");
  refused([](redco::workdir::manifest& facts) { facts.epoch_position = 5001; }, "epoch_position");
  refused([](redco::workdir::manifest& facts) { facts.best["min_loss"].step = most; }, "best.min_loss");
}

TEST_CASE("an invalid manifest is refused with the position of the mistake") {
  std::string const text = unsealed(rich_manifest());
  struct wrong {
    std::string from, to, why;
  };
  std::vector<wrong> all;
  auto const add = [&](char const* from, char const* to, char const* why) { all.push_back({from, to, why}); };
  add("\"step\": 1200,", "", "\"step\"");
  add("\"step\": 1200", "\"step\": -1", "\"step\"");
  add("\"step\": 1200", "\"step\": 12.0", "\"step\"");
  add("\"step\": 1200", "\"step\": \"1200\"", "\"step\"");
  add("\"dp\": 3", "\"dp\": 3000000000", "mesh.dp");
  add("\"run\": \"5f0c-aa\"", "\"run\": \"../x\"", "\"run\"");
  add("\"format\": 1", "\"format\": 3", "formats 1 to 2");
  add("\"format\": 1", "\"format\": 0", "format 0");
  add("\"fedcba9876543210\"", "\"ab\"", "hash");
  add("\"fedcba9876543210\"", "\"fedcba98765432xy\"", "hash");
  add("\"BF16\"", "\"BF17\"", "dtype");
  add("\"parameters-1of2.safetensors\",", "\"../parameters-1of2.safetensors\",", "plain file name");
  add("\"parameters-1of2.safetensors\",", "\"/etc/passwd\",", "plain file name");
  add("\"parameters-1of2.safetensors\",", "\"parameters-2of2.safetensors\",", "does not list");
  add("\"parameters-1of2.safetensors\": {", "\"a/b\": {", "plain file name");
  for (auto const& [from, to, why] : all) {
    auto const failure = ckpt_test::error_of(
        [&, &change = from, &by = to] { redco::workdir::read_manifest(replaced(text, change, by), "the file"); });
    INFO(from << " -> " << to << ": " << failure.text);
    CHECK(failure.code == redco::exit_code::data);
    CHECK(ckpt_test::has(failure.text, why));
    CHECK(ckpt_test::has(failure.text, "the file"));
  }
}

TEST_CASE("parts that overlap, leave a gap or reach outside are refused") {
  auto const refused = [](auto change, std::string const& why) {
    redco::workdir::manifest facts = rich_manifest();
    change(facts.tensors.at("h.0.mlp.up.weight").parts.at(1));
    auto const failure =
        ckpt_test::error_of([&] { redco::workdir::read_manifest(redco::workdir::write_manifest(facts), "m"); });
    INFO(failure.text);
    CHECK(failure.code == redco::exit_code::data);
    CHECK(ckpt_test::has(failure.text, why));
  };
  refused([](redco::safetensors::tensor_part& part) { part.offset[1] = 3; }, "overlap");
  refused([](redco::safetensors::tensor_part& part) { part.shape[1] = 2; }, "5 elements without a part");
  refused([](redco::safetensors::tensor_part& part) { part.shape[1] = 4; }, "outside");
  refused([](redco::safetensors::tensor_part& part) { part.shape.pop_back(); }, "outside");
}

TEST_CASE("a best value that is not finite cannot be saved") {
  redco::workdir::manifest facts = rich_manifest();
  facts.best["min_loss"].value = std::numeric_limits<double>::quiet_NaN();
  CHECK(ckpt_test::error_of([&] { redco::workdir::write_manifest(facts); }).code == redco::exit_code::internal);
}
