#include "torch_catch.hpp"

#include "cpu_launcher.hpp"
#include "skip.hpp"
#include "tested_device.hpp"

#include <redco/kernel/activations.hpp>
#include <redco/kernel/cross_entropy.hpp>
#include <redco/kernel/dropout.hpp>
#include <redco/kernel/embeddings.hpp>
#include <redco/kernel/norms.hpp>
#include <redco/comm/in_process_group.hpp>
#include <redco/tensor/compiled_kernels.hpp>
#include <redco/tensor/kernel_set.hpp>
#include <redco/random/stream.hpp>
#include <redco/diag/error.hpp>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

namespace {

using namespace redco;

// Runs all cases of this program with the kernels of device text on the CPU, if
// REDCO_TEST_DEVICE_TEXT is set.
struct all_on_cpu {
  std::optional<cpu_launcher> launcher;
  std::optional<redco::tensors::kernel_launcher::forced> forced;

  all_on_cpu() {
    if (std::getenv("REDCO_TEST_DEVICE_TEXT") == nullptr) return;
    launcher.emplace(1u);
    forced.emplace(*launcher);
  }
} const all_on_cpu_if_wanted;

constexpr random::stream device_numbers = random::make_stream(7, 1, 2, 3);

at::Tensor device_sample(at::IntArrayRef sizes, at::ScalarType type, double phase = 0) {
  std::int64_t count = 1;
  for (std::int64_t const extent : sizes) count *= extent;
  return (at::sin(at::arange(count, at::kDouble) * 1.7 + phase) * 2 + 0.3).view(sizes).to(type);
}

}  // namespace

TEST_CASE("device text drops exactly the elements that the CPU kernels drop, for any cut and block size") {
  for (auto const type : {at::kFloat, at::kBFloat16})
    for (unsigned const threads : {1u, 3u, 8u}) {
      INFO(type << " in blocks of " << threads);
      cpu_launcher launcher(threads, 5);
      at::Tensor const x = device_sample({3, 5, 37}, type);
      for (std::int64_t const feature0 : {0, 1, 6, 1023}) {
        auto const drop = [&] { return kernel::dropout(x, 0.3, device_numbers, 41, feature0, 7); };
        redco::tensors::forced_kernel_set const fast(redco::tensors::kernel_set::fastest);
        at::Tensor const expected = drop();
        redco::tensors::kernel_launcher::forced const forced(launcher);
        CHECK(at::equal(drop(), expected));
        redco::tensors::forced_kernel_set const reference(redco::tensors::kernel_set::composed);
        CHECK(at::equal(drop(), expected));
      }
      CHECK(launcher.runs().at("dropout_rows") == 4);
    }
}

TEST_CASE("dropout on the tested device drops exactly the elements that the CPU drops") {
  for (auto const type : {at::kFloat, at::kBFloat16}) {
    at::Tensor const x = device_sample({3, 5, 1037}, type);
    auto const drop = [](at::Tensor const& input) { return kernel::dropout(input, 0.3, device_numbers, 41, 6, 7); };
    CHECK(at::equal(redco::tensors::to_cpu(drop(x.to(tested_device()))), drop(x)));
  }
}

TEST_CASE("kernels of device text run only for the fastest kernel set, for f32 and bf16") {
  redco::tensors::forced_kernel_set const fast(redco::tensors::kernel_set::fastest);
  cpu_launcher launcher(1);
  redco::tensors::kernel_launcher::forced const forced(launcher);
  CHECK(redco::tensors::takes_cuda_kernels(at::ones({2})));
  CHECK(!redco::tensors::takes_cuda_kernels(at::empty({2}, at::kMeta)));
  kernel::gelu(at::ones({2}, at::kDouble));
  redco::tensors::forced_kernel_set const reference(redco::tensors::kernel_set::composed);
  CHECK(!redco::tensors::takes_cuda_kernels(at::ones({2})));
  kernel::gelu(at::ones({2}));
  CHECK(launcher.runs().empty());
}

TEST_CASE("compiled kernels serve CUDA devices and no others") {
  CHECK(redco::tensors::compiled_kernels::of_process().serves(at::Device(at::kCUDA, 1)));
  CHECK(!redco::tensors::compiled_kernels::of_process().serves(redco::tensors::cpu_device()));
  redco::tensors::kernel_launcher::forced const forced(redco::tensors::compiled_kernels::of_process());
  CHECK(!redco::tensors::takes_cuda_kernels(at::ones({3})));
}

TEST_CASE("NVRTC compiles every kernel for f32 and bf16, for an A100 and an H100", "[outside]") {
  try {
    redco::tensors::kernel_compiler::of_process();
  } catch (error const& e) {
    CHECK(e.code() == exit_code::usage);
    CHECK(std::string(e.what()).find("scripts/setup --cuda") != std::string::npos);
    return skip(e.what());
  }
  auto const& compiler = redco::tensors::kernel_compiler::of_process();
#define REDCO_SOURCE(name) &name,
  for (redco::tensors::kernel_source const* const source : {
#include <device_text/all_sources.hpp>
       })
#undef REDCO_SOURCE
    for (char const* const element : {"float", "bf16"})
      for (char const* const architecture : {"sm_80", "sm_90"}) {
        INFO(source->name << " of " << element << " for " << architecture);
        std::string const code = compiler.compile(*source, element, architecture);
        for (auto const& [entry, unused] : device_text::entries())
          if (std::string(source->text).find("REDCO_ENTRY void " + std::string(entry) + "(") != std::string::npos)
            CHECK(code.find(std::string(1, '\0') + std::string(entry) + '\0') != std::string::npos);
      }
  try {
    compiler.compile({"wrong", "REDCO_ENTRY void f(element* x) {\n  x[0] = y;\n}\n"}, "float", "sm_90");
    FAIL("compiled");
  } catch (error const& e) {
    CHECK(e.code() == exit_code::internal);
    CHECK(std::string(e.what()).find("wrong.cu(2): error: identifier \"y\" is undefined") != std::string::npos);
  }
}
