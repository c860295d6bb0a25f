#include "language.hpp"
#include "resident_memory.hpp"

#include <redco/data/token_file.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <vector>

TEST_CASE("a trainer reads 260 MB of a token file of 10 GB and stays within 200 MB of resident memory") {
  temporary_folder const folder;
  std::filesystem::path const path = folder / "sparse.ids";
  redco::data::token_header const header{.count = 5'000'000'000, .vocabulary = 11, .end = 10};
  auto const front = header.encoded();
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<char const*>(front.data()), front.size());
  std::filesystem::resize_file(path, header.file_bytes());
  redco::data::token_file const file(path, 32767);  // windows of 64 KB

  using window = std::vector<std::int64_t>;
  auto const job = redco::collate([](std::span<window const> some) {
                     std::vector<at::Tensor> rows;
                     for (window const& ids : some) rows.push_back(at::tensor(window(ids.end() - 9, ids.end())));
                     at::Tensor const all = at::stack(rows);
                     return redco::token_batch{all.slice(1, 0, 8), all.slice(1, 1).clone()};
                   }) |
                   redco::loss([](auto const& net, redco::token_batch const& b) {
                     return redco::cross_entropy(net(b.input_ids), b.labels);
                   });
  run_test::silence const quiet;
  redco::deployer deployer(run_test::in(folder / "run"));
  redco::trainer trainer(deployer, run_test::tied, job, redco::adamw{.lr = 0.02});
  std::vector<double> losses;
  std::int64_t first = 0, most = 0;
  auto const observe = [&](redco::fit_event const& e) {
    losses.push_back(e.loss);
    if (e.step == 1) first = resident_bytes();
    most = std::max(most, resident_bytes());
  };
  trainer.fit(file, {.epochs = 1, .max_steps = 64, .global_batch = 64, .on_step = observe});
  REQUIRE(losses.size() == 64);
  CHECK(losses.back() < losses.front());
  if (!keeps_freed_memory) CHECK(most - first < 200'000'000);
}
