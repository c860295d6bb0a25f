// The check of saved tensors and a tier that keeps saved tensors in a file, both active.
#include "observation.hpp"

#include <redco/nn/cross_entropy.hpp>
#include <redco/tensor/saved_tensors.hpp>
#include <redco/model/gpt2.hpp>
#include <redco/options/value_text.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace saved_test {

/// A saved-tensor link that keeps the bytes of saved tensors in an unnamed file and none in memory.
class file_tier final : public redco::tensors::saved_link {
 public:
  packed pack(at::Tensor const& x) override {
    at::Tensor const dense = x.contiguous();
    std::size_t const bytes = dense.nbytes();
    std::fseek(file_.get(), 0, SEEK_END);
    long const at = std::ftell(file_.get());
    bool const written = std::fwrite(dense.const_data_ptr(), 1, bytes, file_.get()) == bytes;
    CHECK(written);
    storages_.insert(x.storage().data());
    held_.push_back(x);  // keeps the address from being reused by another tensor
    return {at::Tensor(), [file = file_, at, options = x.options(), sizes = x.sizes().vec()](at::Tensor const&) {
              at::Tensor const back = at::empty(sizes, options);
              std::fseek(file.get(), at, SEEK_SET);
              bool const read = std::fread(back.mutable_data_ptr(), 1, back.nbytes(), file.get()) == back.nbytes();
              return read ? back : at::full(sizes, 1e9, options);
            }};
  }

  std::size_t storages() const { return storages_.size(); }
  long file_bytes() const {
    std::fseek(file_.get(), 0, SEEK_END);
    return std::ftell(file_.get());
  }

 private:
  std::shared_ptr<std::FILE> file_{std::tmpfile(), &std::fclose};
  std::set<void const*> storages_;
  std::vector<at::Tensor> held_;
};

/// The gradients of one step of a GPT-2 with dropout, and counts of saved storages.
struct chain_outcome {
  std::vector<at::Tensor> gradients;
  std::size_t watched = 0, moved = 0;  ///< storages, in forward
  long bytes = 0, bytes_of_backward = 0;
};

chain_outcome chain_run(redco::recomputed_blocks const& recompute, bool check, bool tier) {
  redco::gpt2 const model{{.vocab = 101, .context = 24, .width = 48, .heads = 6, .layers = 3, .dropout = 0.1}};
  chain_outcome o;
  redco::mesh const mesh;
  auto const p = redco::plan_of(model, mesh);
  redco::comm::run_ranks(mesh, {.threads = 1}, [&](redco::rank_context& rank) {
    redco::nn::parameter_store const store(redco::shard::placed_parameters(p), rank.rank, redco::dtype::f32, 7);
    auto const net = std::make_shared<redco::nn::network<redco::gpt2> const>(model, store, rank.rank, mesh);
    redco::pass const in =
        redco::nn::training_pass(rank, 0, 0, {.recompute = recompute, .check_saved = check}).with_examples(0, 4);
    at::Tensor const ids = at::arange(4 * 20, at::kLong).remainder(101).view({4, 20});
    file_tier file;
    std::optional<redco::tensors::saved_chain::scope> moving;
    if (tier) moving.emplace(file, redco::tensors::saved_chain::role::moves);
    std::optional<redco::tensors::saved_watch> watch;
    // One watch per thread; with the check, the network has one already
    if (!check) watch.emplace();
    at::Tensor const sum = redco::cross_entropy(redco::bound_network<redco::gpt2>(net, in)(ids), ids.flip(0)).sum;
    if (watch) o.watched = watch->entries().size();
    watch.reset();
    o.moved = file.storages();
    o.bytes = file.file_bytes();
    sum.backward();  // recomputed blocks save through the chain again
    o.bytes_of_backward = file.file_bytes() - o.bytes;
    for (auto const& leaf : net->parameters()) o.gradients.push_back(leaf.grad().clone());
  });
  return o;
}

TEST_CASE("the check of saved tensors and a file tier work together and do not change gradients") {
  for (redco::recomputed_blocks const& recompute :
       {redco::recomputed_blocks(false), redco::recomputed_blocks(true), redco::recomputed_blocks::every_kth(2)}) {
    INFO("recompute " << redco::options::to_text(recompute));
    chain_outcome const plain = chain_run(recompute, false, false);
    chain_outcome const both = chain_run(recompute, true, true), watched = chain_run(recompute, false, true);
    CHECK(plain.bytes == 0);
    CHECK(both.bytes > 0);
    CHECK(both.bytes == watched.bytes);
    CHECK(watched.moved > 10);
    CHECK(watched.moved == watched.watched);  // both links see every saved tensor
    CHECK((both.bytes_of_backward > 0) == recompute.any());
    REQUIRE(both.gradients.size() == plain.gradients.size());
    REQUIRE(plain.gradients.size() > 30);
    for (std::size_t i = 0; i < plain.gradients.size(); ++i) {
      CHECK(both.gradients[i].equal(plain.gradients[i]));
      CHECK(watched.gradients[i].equal(plain.gradients[i]));
    }
  }
}

}  // namespace saved_test
