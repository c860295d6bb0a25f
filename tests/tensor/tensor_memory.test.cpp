#include "torch_catch.hpp"

#include <redco/tensor/tensor_memory.hpp>
#include <redco/tensor/torch.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <sys/resource.h>

namespace {

constexpr std::int64_t mib = 1 << 20;

at::Tensor bytes(std::int64_t n) { return at::empty({n}, at::kByte); }

/// Returns the address of a tensor that has been destroyed.
void const* place_of_a_short_one(std::int64_t n) { return bytes(n).const_data_ptr(); }

std::int64_t kept_mib(redco::tensors::kept_memory::scope const& keeping) {
  return static_cast<std::int64_t>(keeping.memory().kept()) / mib;
}

}  // namespace

TEST_CASE("a large tensor reuses the memory of the previous one, and the counter ignores kept memory") {
  redco::tensors::kept_memory::install();
  auto const counter = std::make_shared<redco::tensors::memory_counter>();
  redco::tensors::memory_counter::scope const counting(counter);
  redco::tensors::kept_memory::scope const keeping;
  void const* const first = place_of_a_short_one(40 * mib);
  CHECK(keeping.memory().kept() == 40 * mib);
  CHECK(counter->current() == 0);
  CHECK(counter->peak() == 40 * mib);
  at::Tensor const again = bytes(40 * mib);
  CHECK(again.const_data_ptr() == first);
  CHECK(keeping.memory().kept() == 0);
  CHECK(counter->current() == 40 * mib);
  at::Tensor const other = bytes(40 * mib);
  CHECK(other.const_data_ptr() != first);
  CHECK(counter->peak() == 80 * mib);
}

TEST_CASE("kept memory and used memory together never exceed the peak of used memory") {
  redco::tensors::kept_memory::install();
  redco::tensors::kept_memory::scope const keeping;
  { at::Tensor const a = bytes(20 * mib), b = bytes(9 * mib), c = bytes(11 * mib); }
  CHECK(kept_mib(keeping) == 40);
  at::Tensor const small = bytes(8 * mib - 1);
  CHECK(kept_mib(keeping) == 40);
  // 18 may be kept: the largest block is released, then the next
  at::Tensor const more = bytes(22 * mib);
  CHECK(kept_mib(keeping) == 9);
  at::Tensor const all = bytes(41 * mib);
  CHECK(kept_mib(keeping) == 0);
}

TEST_CASE("a kept block serves tensors of at least half its size and is kept whole again") {
  redco::tensors::kept_memory::install();
  redco::tensors::kept_memory::scope const keeping;
  void const* const first = place_of_a_short_one(20 * mib);
  CHECK(place_of_a_short_one(10 * mib) == first);
  CHECK(kept_mib(keeping) == 20);
  {
    at::Tensor const small = bytes(10 * mib - 1);
    CHECK(keeping.memory().kept() == 0);
  }
  CHECK(keeping.memory().kept() == 10 * mib - 1);
}

TEST_CASE("blocks return to the thread that took them, and to the system after the thread ends") {
  redco::tensors::kept_memory::install();
  std::optional<at::Tensor> late;
  {
    redco::tensors::kept_memory::scope const keeping;
    late = bytes(16 * mib);
    at::Tensor moved = bytes(24 * mib);
    std::thread([taken = std::move(moved)]() mutable { taken.reset(); }).join();
    CHECK(keeping.memory().kept() == 24 * mib);
    std::thread([&] {
      at::Tensor const unkept = bytes(24 * mib);
      CHECK(keeping.memory().kept() == 24 * mib);
    }).join();
    redco::tensors::kept_memory::scope const inner;
    at::Tensor const elsewhere = bytes(24 * mib);
    CHECK(keeping.memory().kept() == 24 * mib);
  }
  late->fill_(1);
  CHECK(late->sum().item<std::int64_t>() == 16 * mib);
  late.reset();
}

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("smaller tensors keep their pages from one step to the next") {
  redco::tensors::kept_memory::install();
  auto const step = [] {
    std::vector<at::Tensor> saved;
    for (std::int64_t i = 0; i < 40; ++i) saved.push_back(bytes(mib + 64 * i).fill_(1));
  };
  auto const faults = [] {
    rusage used{};
    ::getrusage(RUSAGE_THREAD, &used);
    return used.ru_minflt;
  };
  std::thread([&] {
    for (int i = 0; i < 3; ++i) step();
    long const before = faults();
    for (int i = 0; i < 20; ++i) step();
    // The pages of one step are 10,240.
    CHECK(faults() - before < 10'240);
  }).join();
}
#endif
