#include "catch.hpp"
#include "refused.hpp"
#include "shared_folder.hpp"
#include "skip.hpp"
#include "temporary_folder.hpp"
#include "test_files.hpp"

#include <redco/pretrained/named_as.hpp>
#include <redco/pretrained/pretrained.hpp>
#include <redco/safetensors/safetensors_plan.hpp>
#include <redco/tokenizer/detail/jinja.hpp>

#include <redco/shard/facts.hpp>
#include <redco/json/parse.hpp>
#include <redco/json/value.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

std::string const mistral_text =
    R"({"model_type": "mistral", "vocab_size": 95, "max_position_embeddings": 64, "hidden_size": 56,
        "intermediate_size": 72, "num_attention_heads": 4, "num_key_value_heads": 2, "num_hidden_layers": 3,
        "sliding_window": 5, "tie_word_embeddings": true, "use_cache": true, "bos_token_id": 1)";

/// A folder of a Mistral without weights, whose config.json has additional keys.
struct mistral_folder : temporary_folder {
  explicit mistral_folder(std::string const& more = "") { write("config.json", mistral_text + more + "}"); }

  void write(std::string const& name, std::string const& text) const { std::ofstream(path / name) << text; }
};

std::string refusal(auto&& call) {
  try {
    call();
  } catch (redco::error const& e) {
    CHECK(e.code() == redco::exit_code::data);
    return e.what();
  }
  return "accepted";
}

std::set<std::string> names_of(std::map<std::string, std::filesystem::path> const& files) {
  std::set<std::string> names;
  for (auto const& [name, file] : files) names.insert(name);
  return names;
}

/// Checks that a folder of reference numbers has the tensors that its model needs, and that saving
/// would write the same tensors.
void check_weights(std::filesystem::path const& path) {
  INFO(path.string());
  redco::pretrained_folder const folder(path);
  redco::safetensors::tensor_table const& tensors = folder.weights().tensors;
  int missing = 0;
  folder.visit([&]<class M>(M const& model) {
    for (redco::fact::parameter_fact const& f : redco::shard::facts_of(model).parameters) {
      std::string ours(f.name.view());
      std::replace(ours.begin(), ours.end(), '*', '0');
      missing += !tensors.contains(redco::models::find_stored_name(redco::models::stored_names<M>::names, ours).theirs);
    }
  });
  CHECK(missing == 0);
  redco::save_model_options const options = folder.save_options();
  CHECK((options.types.size() == tensors.size() && !options.type));
  for (auto const& [name, type] : options.types) CHECK(type == tensors.at(name).type);
  CHECK(options.files.at("config.json") == path / "config.json");
  CHECK(options.files.contains("generation_config.json") == std::filesystem::exists(path / "generation_config.json"));
  CHECK_FALSE(options.files.contains("meta.json"));
}

}  // namespace

TEST_CASE("a folder's config.json gives the family, its sizes and the keys without effect") {
  mistral_folder const there;
  for (std::filesystem::path const& path : {there.path, there / "config.json"}) {
    redco::pretrained_folder const folder(path);
    CHECK(folder.family() == "mistral");
    CHECK(folder.folder() == there.path);
    auto const& model = folder.model<redco::llama>();
    CHECK((model.config.tied && model.config.vocab == 95 && model.config.window == 5 && model.config.kv_heads == 2));
    auto unused = folder.unused();
    std::sort(unused.begin(), unused.end());
    CHECK(unused == std::vector<std::string>{"bos_token_id", "use_cache"});
    CHECK(folder.visit([](auto const& m) {
      if constexpr (requires { m.config.layers; }) return m.config.layers;
      else return m.config.decoder.layers;
    }) == 3);
  }
}

TEST_CASE("a mixture of experts with an auxiliary loss of all blocks is read, and refused for training") {
  temporary_folder const there;
  auto const folder = [&](std::string const& more) {
    std::ofstream(there.path / "config.json") << R"({"model_type": "mixtral", "num_hidden_layers": 2)" + more + "}";
    return redco::pretrained_folder(there.path);
  };
  CHECK_NOTHROW(folder(R"(, "output_router_logits": false)").check_trainable());
  CHECK_NOTHROW(folder(R"(, "output_router_logits": true, "router_aux_loss_coef": 0.0)").check_trainable());
  redco::pretrained_folder const asks = folder(R"(, "output_router_logits": true)");
  CHECK(asks.model<redco::models::mixtral>().config.layers == 2);
  CHECK(
      refusal([&] { asks.check_trainable(); }) ==
      (there.path / "config.json").string() +
          ": \"output_router_logits\" is true, which in training adds an auxiliary loss over all blocks together, and "
          "this loss is not computed here; set it to false");
}

TEST_CASE("a program that takes some models refuses the others by name") {
  mistral_folder const there;
  redco::pretrained_folder const folder(there.path);
  CHECK(folder.visit<redco::models::decoders>([](auto const& m) { return m.config.layers; }) == 3);
  CHECK(refusal([&] {
          folder.visit<redco::models::encoder_decoders>([](auto const& m) { return m.config.layers; });
        }) == there.path.string() +
                  " describes a model mistral, which this program does not run; give one of bart, t5, t5_gated");
  CHECK(refusal([&] { folder.model<redco::gpt2>(); }) ==
        there.path.string() + " describes a model mistral, which this program does not run; give one of gpt2");
}

TEST_CASE("a file missing in a folder is reported by name when it is needed") {
  CHECK(refusal([] { redco::pretrained_folder("/nonexistent/folder"); }).find("/nonexistent/folder") !=
        std::string::npos);
  temporary_folder const empty;
  CHECK(refusal([&] { redco::pretrained_folder{empty.path}; }).find((empty / "config.json").string()) !=
        std::string::npos);

  mistral_folder const there;
  redco::pretrained_folder const folder(there.path);
  CHECK(folder.ids().stop.empty());
  CHECK(refusal([&] { folder.weights(); }).starts_with(there.path.string() + " has neither model.safetensors nor"));
  CHECK(
      // A model to train from scratch
      (folder.save_options().types.empty() && folder.save_options().files.size() == 1));
  CHECK(refusal([&] { folder.tokenizer(); }).find("has neither tokenizer.json nor") != std::string::npos);
  there.write("tokenizer.json", "{\"model\": ");
  there.write("model.safetensors", "no such file");
  CHECK(refusal([&] { folder.tokenizer(); }).find((there / "tokenizer.json").string()) != std::string::npos);
  CHECK(refusal([&] { folder.weights(); }).find((there / "model.safetensors").string()) != std::string::npos);
  CHECK(refusal([&] { folder.save_options(); }).find((there / "model.safetensors").string()) != std::string::npos);

  // A file that was refused is read again once it is valid, and then never again, not by copies of
  // the folder either.
  std::filesystem::copy_file(test_files() / "saved/5.23/llama/tokenizer.json", there / "tokenizer.json",
                             std::filesystem::copy_options::overwrite_existing);
  redco::pretrained_folder const copy = folder;
  std::int64_t const size = copy.tokenizer().vocabulary_size();
  std::filesystem::remove(there / "tokenizer.json");
  CHECK(folder.tokenizer().vocabulary_size() == size);
  CHECK(&folder.tokenizer() == &copy.tokenizer());
}

TEST_CASE("a folder defines how texts begin and end and how they are decoded") {
  mistral_folder const there(R"(, "eos_token_id": 7, "pad_token_id": null, "forced_eos_token_id": 7)");
  redco::pretrained::token_ids ids = redco::pretrained_folder(there.path).ids();
  CHECK((ids.stop == std::vector<std::int64_t>{7} && ids.padding == 7 && !ids.start && ids.forced_end == 7));
  CHECK(redco::pretrained_folder(there.path).generation().sampling.stop_ids == ids.stop);
  there.write("generation_config.json",
              R"({"eos_token_id": [5, 6], "pad_token_id": 1, "decoder_start_token_id": 2, "num_beams": 3})");
  ids = redco::pretrained_folder(there.path).ids();
  CHECK((ids.stop == std::vector<std::int64_t>{5, 6} && ids.padding == 1 && ids.start == 2 && ids.forced_end == -1));
  CHECK(redco::pretrained_folder(there.path).generation().search.beams == 3);

  // Training asks for the ids alone, so a way of decoding that redco does not compute does not
  // matter.
  there.write("generation_config.json", R"({"eos_token_id": 5, "typical_p": 0.5})");
  redco::pretrained_folder const folder(there.path);
  CHECK(folder.ids().stop == std::vector<std::int64_t>{5});
  CHECK(refusal([&] { folder.generation(); }).find("\"typical_p\" is 0.5, which is not supported") !=
        std::string::npos);
  there.write("generation_config.json", R"({"eos_token_id": [5], "pad_token_id": -1})");
  CHECK(redco::pretrained_folder(there.path).ids().padding == 5);
  there.write("generation_config.json", R"({"eos_token_id": "</s>"})");
  CHECK(refusal([&] { redco::pretrained_folder(there.path).ids(); }).find("\"eos_token_id\" is no id") !=
        std::string::npos);
}

// Folders that transformers 4.47 and 5.23 wrote, and the ids that they generated:
// tests/pretrained/make_saved.py.
TEST_CASE("folders are read as transformers 4 and 5 save them") {
  for (std::string const version : {"4.47", "5.23"}) {
    for (std::string const family : {"gpt2", "llama", "qwen2", "bart", "bert"}) {
      INFO(family << " saved by " << version);
      redco::pretrained_folder const folder(test_files() / "saved" / version / family);
      CHECK(folder.family() == family);
      redco::json::json_value const golden = redco::json::read_json(folder.folder() / "golden.json");
      std::int64_t const numbers = folder.visit([](auto const& model) {
        std::int64_t sum = 0;
        for (redco::fact::parameter_fact const& f : redco::shard::facts_of(model).parameters)
          sum += f.shape.count() * f.copies();
        return sum;
      });
      CHECK(numbers == golden["numbers"].get<std::int64_t>());
      for (redco::json::json_value const& row : golden["rows"])
        CHECK(folder.tokenizer().encode(row["text"].get<std::string>()) == row["ids"].get<std::vector<std::int64_t>>());
      CHECK(folder.ids().stop.size() == (family == "bert" ? 0 : 1));
      CHECK(folder.generation().search.beams == 1);
    }
  }
  redco::pretrained::token_ids const bart = redco::pretrained_folder(test_files() / "saved/5.23/bart").ids();
  CHECK((bart.start == 2 && bart.padding == 1 && bart.forced_end == 2));
}

TEST_CASE("a folder is saved again with all its files, each tensor in its type") {
  for (std::string const name : {"bart-cnn", "mistral-window", "qwen2-window"})
    check_weights(test_files() / "parity" / name);

  temporary_folder const there;
  for (std::string const name : {"config.json", "generation_config.json", "model.safetensors"})
    std::filesystem::copy_file(test_files() / "parity/mistral-window" / name, there / name);
  std::set<std::string> expected{"config.json", "generation_config.json"};
  for (std::string const name : {"tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "spiece.model",
                                 "tokenizer.model", "vocab.json", "merges.txt", "chat_template.jinja"}) {
    std::ofstream(there / name) << name;
    expected.insert(name);
  }
  std::ofstream(there / "notes.txt") << "of the user's own";
  CHECK(names_of(redco::pretrained_folder(there.path).save_options().files) == expected);
  std::filesystem::rename(there / "config.json", there / "mine.json");
  CHECK(redco::pretrained_folder(there / "mine.json").save_options().files.at("config.json") == there / "mine.json");
}

namespace {

/// Writes a file of these tensors, all zero.
void write_zeros(std::filesystem::path const& path, std::vector<redco::safetensors::safetensors_entry> entries) {
  auto const plan = redco::safetensors::plan_safetensors(std::move(entries));
  std::ofstream(path, std::ios::binary) << plan.header
                                        << std::string(static_cast<std::size_t>(plan.bytes() - plan.header.size()),
                                                       '\0');
}

}  // namespace

TEST_CASE("weights have the names of the whole model, and the log lists tensors that are not read") {
  temporary_folder const there;
  std::ofstream(there / "config.json")
      << R"({"model_type": "gpt2", "architectures": ["GPT2Model"], "output_past": true})";
  auto const f16 = redco::safetensors::file_dtype::f16, f32 = redco::safetensors::file_dtype::f32;
  write_zeros(there / "model.safetensors", {{"wte.weight", f16, {2, 3}},
                                            {"h.0.attn.c_attn.bias", f32, {3}},
                                            {"h.0.attn.bias", f32, {1, 1}},
                                            {"h.1.attn.bias", f32, {1, 1}},
                                            {"stranger", f32, {1}}});
  redco::pretrained_folder const folder(there.path);
  auto const& tensors = folder.weights().tensors;
  std::vector<std::string> names;
  for (auto const& [name, tensor] : tensors) names.push_back(name + " as " + tensor.parts.front().name);
  CHECK(names == std::vector<std::string>{"stranger as ", "transformer.h.0.attn.bias as h.0.attn.bias",
                                          "transformer.h.0.attn.c_attn.bias as h.0.attn.c_attn.bias",
                                          "transformer.h.1.attn.bias as h.1.attn.bias",
                                          "transformer.wte.weight as wte.weight"});
  CHECK(folder.save_options().types.at("transformer.wte.weight") == f16);
  CHECK(folder.notices() ==
        std::vector<std::string>{"config.json: output_past changes nothing here",
                                 there.path.string() + ": transformer.h.*.attn.bias changes nothing here"});
  for (std::string const other : {"pytorch_model.bin", "tf_model.h5"}) std::ofstream(there / other) << "?";
  CHECK(folder.notices().back() ==
        there.path.string() + ": pytorch_model.bin, tf_model.h5, transformer.h.*.attn.bias change nothing here");
  std::filesystem::remove(there / "model.safetensors");
  CHECK(refusal([&] {
          redco::pretrained_folder(there.path).weights();
        }).find("model.safetensors.index.json; pytorch_model.bin is not read, because such files can run code") !=
        std::string::npos);
}

TEST_CASE("old names of norms are known, and a tensor under two names is refused") {
  redco::models::stored_table const table = redco::models::stored_table_of(redco::bert{});
  CHECK(redco::pretrained::name_in_table("embeddings.LayerNorm.gamma", table) == "bert.embeddings.LayerNorm.weight");
  CHECK(redco::pretrained::name_in_table("bert.encoder.layer.3.output.LayerNorm.beta", table) ==
        "bert.encoder.layer.3.output.LayerNorm.bias");
  CHECK(redco::pretrained::name_in_table("classifier.weight", table) == "classifier.weight");
  CHECK(redco::pretrained::name_in_table("pooler.dense.bias", table) == "bert.pooler.dense.bias");
  CHECK(redco::pretrained::name_in_table("qa_outputs.weight", table) == "qa_outputs.weight");
  CHECK(redco::pretrained::name_in_table("cls.predictions.bias", table) == "cls.predictions.bias");

  temporary_folder const there;
  std::ofstream(there / "config.json") << R"({"model_type": "bert"})";
  auto const f32 = redco::safetensors::file_dtype::f32;
  write_zeros(there / "model.safetensors", {{"bert.pooler.dense.bias", f32, {3}}, {"pooler.dense.bias", f32, {3}}});
  CHECK(refusal([&] { redco::pretrained_folder(there.path).weights(); }).find("under two names") != std::string::npos);
}

TEST_CASE("the saved config.json records a fresh head and the user's labels") {
  temporary_folder const there;
  std::ofstream(there / "config.json")
      << R"({"model_type": "bert", "architectures": ["BertForMaskedLM"], "_num_labels": 2, "hidden_size": 24})";
  redco::pretrained_folder const plain(there.path);
  CHECK(plain.save_options().texts.empty());
  CHECK(plain.model<redco::bert>().config.classes == 2);

  redco::pretrained_folder const folder(there.path, {.fresh = {"classifier"}, .labels = {"no", "perhaps", "yes"}});
  CHECK(folder.model<redco::bert>().config.classes == 3);
  redco::save_model_options const options = folder.save_options();
  CHECK_FALSE(options.files.contains("config.json"));
  CHECK(redco::json::parse_json(options.texts.at("config.json"), "saved") ==
        redco::json::parse_json(
            R"({"model_type": "bert", "architectures": ["BertForSequenceClassification"], "hidden_size": 24,
          "id2label": {"0": "no", "1": "perhaps", "2": "yes"}, "label2id": {"no": 0, "perhaps": 1, "yes": 2}})",
            "expected"));

  write_zeros(there / "model.safetensors", {{"pooler.dense.bias", redco::safetensors::file_dtype::f32, {3}}});
  CHECK(folder.weights().fresh == std::vector<std::string>{"classifier"});
  // The class in config.json changes
  CHECK(redco::pretrained_folder(there.path, {.fresh = {"pooler"}}).save_options().texts.size() == 1);

  std::ofstream(there / "config.json") << R"({"model_type": "gpt2"})";
  CHECK(refused([&] { redco::pretrained_folder(there.path, {.labels = {"a"}}); }) ==
        "64 " + there.path.string() + " describes a model gpt2, which has no classes; leave the labels out");
}

TEST_CASE("the reference models' folders name their weights as their families' tables do", "[outside]") {
  int folders = 0;
  std::error_code absent;
  for (auto const& entry : std::filesystem::directory_iterator(shared_folder() / "parity", absent)) {
    if (!std::filesystem::exists(entry.path() / "config.json")) continue;
    check_weights(entry.path());
    ++folders;
  }
  if (folders == 0) skip("no reference numbers");
}

TEST_CASE("a training text ends with one end id, whether the template, its author or neither wrote one") {
  auto const encoded = [](std::string const& ends, std::string const& processor, std::string const& text) {
    mistral_folder const there(ends);
    there.write("tokenizer.json", R"({"added_tokens": [{"id": 3, "content": "<e>", "special": true},
      {"id": 4, "content": "<f>", "special": true}], "post_processor": )" +
                                      processor +
                                      R"(, "pre_tokenizer": {"type": "WhitespaceSplit"}, "model": {"type": "WordPiece",
      "unk_token": "u", "vocab": {"u": 0, "a": 1, "b": 2}}})");
    return redco::pretrained_folder(there.path).encoded(std::span(&text, 1)).front();
  };
  using ids = std::vector<std::int64_t>;
  std::string const ended = R"({"type": "TemplateProcessing", "single": [{"Sequence": {"id": "A"}},
    {"SpecialToken": {"id": "<e>"}}], "pair": [], "special_tokens": {"<e>": {"ids": [3]}}})";
  CHECK(encoded(R"(, "eos_token_id": 3)", "null", "a b") == ids{1, 2, 3});
  CHECK(encoded(R"(, "eos_token_id": 3)", ended, "a b") == ids{1, 2, 3});
  CHECK(encoded(R"(, "eos_token_id": [4, 3])", ended, "a b") == ids{1, 2, 3});
  CHECK(encoded(R"(, "eos_token_id": 4)", ended, "a b") == ids{1, 2, 3, 4});
  CHECK(encoded(R"(, "eos_token_id": [4, 3])", "null", "a b<e>") == ids{1, 2, 3});
  CHECK(encoded(R"(, "eos_token_id": [4, 3])", "null", "a b") == ids{1, 2, 4});
  CHECK(encoded(R"(, "eos_token_id": 3)", "null", "") == ids{3});
  CHECK(encoded(R"(, "eos_token_id": 3)", ended, "") == ids{3});
  CHECK(encoded("", "null", "a") == ids{1});
  CHECK(encoded(R"(, "eos_token_id": 3)", ended, "a<e>") == ids{1, 3});
}

TEST_CASE("a completion ends with one end id, and a saved folder stops at the end token of its answers") {
  if (!redco::tokenizer::detail::jinja_template::available) return;
  mistral_folder const there(R"(, "eos_token_id": 3, "pad_token_id": 5)");
  there.write("tokenizer.json", R"({"added_tokens": [{"id": 3, "content": "<e>", "special": true},
      {"id": 4, "content": "<f>", "special": true}], "pre_tokenizer": {"type": "WhitespaceSplit"}, "model": {"type":
      "WordPiece", "unk_token": "u", "vocab": {"u": 0, "a": 1, "b": 2, "ab": 5, ".": 6}}})");
  write_zeros(there / "model.safetensors", {{"lm_head.weight", redco::safetensors::file_dtype::f32, {3}}});
  using ids = std::vector<std::int64_t>;
  redco::pretrained_folder const texts(there.path);
  for (std::string const completion : {" b", " b<e>", " b<e><e>"}) {
    INFO(completion);
    std::vector<redco::data::conversation> const one{{{{"user", "a"}, {"assistant", completion}}, 1, false}};
    CHECK(texts.encoded(one).front() == redco::tokenizer::marked_ids{{1, 2, 3}, {false, true, true}});
  }
  CHECK_FALSE(texts.save_options().texts.contains("generation_config.json"));

  auto const saved = [&](std::string const& closing) {
    there.write("chat_template.jinja", "{% for m in messages %}{{ m.content }} " + closing + " {% endfor %}");
    redco::pretrained_folder const folder(there.path);
    std::vector<redco::data::conversation> const talk{{{{"user", "a"}, {"assistant", "b"}}, 0, true}};
    ids const expected{1, folder.tokenizer().encode(closing).front(), 2, folder.tokenizer().encode(closing).front()};
    CHECK(folder.encoded(talk).front().ids == expected);
    auto const options = redco::pretrained_folder(folder).save_options();
    std::string text;
    if (auto const at = options.texts.find("generation_config.json"); at != options.texts.end()) text = at->second;
    for (std::string const& line : folder.notices())
      if (line.starts_with("answers end")) text += line;
    return text;
  };
  CHECK(saved("<e>").empty());
  redco::json::json_value const config = redco::json::parse_json(saved("<f>"), "a test");
  CHECK(config == redco::json::json_value{{"bos_token_id", 1}, {"pad_token_id", 5}, {"eos_token_id", {3, 4}}});
  there.write("generation_config.json", R"({"eos_token_id": [3], "top_k": 7})");
  CHECK(redco::json::parse_json(saved("<f>"), "a test") ==
        redco::json::json_value{{"eos_token_id", {3, 4}}, {"top_k", 7}});
  CHECK(saved(".").find("answers end with the token 6, which is no special token") != std::string::npos);
}

TEST_CASE("a completion that ends with the end token has the ids of one without it", "[outside]") {
  std::filesystem::path const where = shared_folder() / "cases" / "49-completion-ends-twice";
  std::error_code absent;
  if (!std::filesystem::exists(where, absent)) return skip("no cases");
  redco::pretrained_folder const folder(where / "base");
  auto const plain = folder.encoded(redco::data::read_conversations(where / "plain.jsonl"));
  CHECK(folder.encoded(redco::data::read_conversations(where / "ends.jsonl")) == plain);
  CHECK(std::count(plain.front().ids.begin(), plain.front().ids.end(), 0) == 1);
  CHECK(plain.front().ids.back() == 0);
}

TEST_CASE("conversations are encoded by the chat template, prompts and completions between begin and end ids") {
  if (!redco::tokenizer::detail::jinja_template::available) return;
  temporary_folder const folder;
  std::filesystem::copy(test_files() / "tokenizers" / "llama_first_5", folder.path,
                        std::filesystem::copy_options::recursive);
  std::ofstream(folder.path / "config.json") << mistral_text + ", \"eos_token_id\": 2}";
  std::ofstream(folder.path / "chat_template.jinja")
      << "{% for m in messages %}{{ m.content }} cat{% endfor %}{% if add_generation_prompt %} end{% endif %}";
  redco::pretrained_folder const model(folder.path);
  auto const& tokenizer = model.tokenizer();
  std::vector<redco::data::conversation> const examples{
      {{{"user", "the cat"}, {"assistant", "an end"}}, 0, true},
      {{{"user", "the cat"}, {"assistant", " counts boats"}}, 1, false}};
  auto const found = model.encoded(examples);
  REQUIRE(found.size() == 2);
  CHECK(found[0] ==
        redco::tokenizer::marked_ids_of(tokenizer, model.chat_template().marked_text(examples[0].messages)));
  std::vector<std::int64_t> const whole = tokenizer.encode("the cat counts boats"),
                                  prompt = tokenizer.encode("the cat");
  REQUIRE(whole.front() == 1);
  std::vector<std::int64_t> ids = whole;
  ids.push_back(2);
  CHECK(found[1].ids == ids);
  // A token across the boundary belongs to the completion.
  auto const common = std::mismatch(prompt.begin(), prompt.end(), whole.begin()).first - prompt.begin();
  REQUIRE(common > 1);
  for (std::size_t i = 0; i < ids.size(); ++i) CHECK(found[1].trained[i] == (std::cmp_greater_equal(i, common)));
  // Variables of the template, and the line of a conversation that the template refuses
  std::ofstream(folder.path / "chat_template.jinja")
      << "{% for m in messages %}{{ m.content }}{{ word }} cat{% endfor %}{% if not tools %}{{ raise_exception('no "
         "tools') }}{% endif %}";
  std::vector<redco::data::conversation> talk{examples[0]};
  talk[0].where = "chats.jsonl:7";
  redco::pretrained_folder const other(folder.path);
  CHECK(refusal([&] { other.encoded(talk); }).starts_with("chats.jsonl:7: "));
  talk[0].variables = R"({"tools": [{"name": "f"}], "word": " counts"})";
  CHECK(other.encoded(talk).front().ids ==
        other.tokenizer().encode("the cat counts catan end counts cat", {.add_special = false}));
}
