#include <redco/run/predictor.hpp>
#include <redco/run/trainer.hpp>
#include <redco/generate/generate.hpp>
#include <redco/text/batches.hpp>
#include <redco/nn/cross_entropy.hpp>
#include <redco/nn/nn.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/data/read_texts.hpp>
#include <redco/optimizer/optimizers.hpp>
#include <redco/pipeline/functions.hpp>

#include "run/training.hpp"
#include "temporary_folder.hpp"
#include "torch_catch.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

// The demo's three functions: a prediction continues the whole prompt, whatever the other prompts
// of its batch are.

namespace {

struct text_batch {
  redco::token_batch next;
  redco::text::padded_ids prompts;
};

}  // namespace

TEST_CASE("a prediction keeps its prompt to the last byte and equals the prediction of the prompt alone") {
  temporary_folder folder;
  run_test::silence const quiet;
  redco::gpt2 const model{{.vocab = 256, .context = 32, .width = 12, .heads = 3, .layers = 2, .deviation = 0.3}};
  auto const lm =
      redco::collate([](std::span<std::string const> texts) {
        return text_batch{redco::next_token_batch(texts, 16), redco::text::prompt_ids(texts, 16)};
      }) |
      redco::loss([](auto const& net, text_batch const& b) {
        return redco::cross_entropy(net(b.next.input_ids), b.next.labels);
      }) |
      redco::predict([](auto const& net, text_batch const& b) {
        auto const masked = net.with(redco::key_mask{b.prompts.mask});
        return redco::text::texts_of(redco::generate(masked, b.prompts.ids, {.max_new_tokens = 9}), b.prompts);
      });
  redco::deployer_options options;
  options.workdir = folder.path;
  options.dtype = redco::dtype::f64;
  options.quiet = true;
  redco::deployer deployer(options);
  redco::trainer trainer(deployer, model, lm, redco::adamw{.lr = 1e-2});
  std::vector<std::string> const texts{"to be, or not to be", "that is the question", "x"};
  trainer.fit(texts, {.epochs = 3, .global_batch = 2, .save_last = false});

  std::vector<std::string> const prompts{"whether 't", "is", "n", "longer than its sixteen bytes"};
  auto const together = redco::predictor(trainer).predict(prompts, 4);
  REQUIRE(together.size() == 4);
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    INFO(prompts[i]);
    std::string const kept = prompts[i].substr(prompts[i].size() - std::min<std::size_t>(prompts[i].size(), 16));
    CHECK(together[i].substr(0, kept.size()) == kept);
    CHECK(together[i].size() == kept.size() + 9);
    CHECK(redco::predictor(trainer).predict(std::vector{prompts[i]}, 1).front() == together[i]);
  }
  try {
    redco::predictor(trainer).predict(std::vector<std::string>{"n", ""}, 2);
    FAIL("nothing to go on from");
  } catch (redco::error const& refused) {
    CHECK(refused.code() == redco::exit_code::usage);
    CHECK(std::string(refused.what()).find("a prompt without tokens cannot be continued") != std::string::npos);
  }
}
