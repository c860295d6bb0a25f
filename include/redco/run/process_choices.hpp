#pragma once

#include <redco/comm/agreement.hpp>
#include <redco/tensor/bf16_path.hpp>
#include <redco/tensor/device.hpp>
#include <redco/tensor/f32_path.hpp>
#include <redco/tensor/kernel_set.hpp>
#include <redco/tensor/torch.hpp>
#include <redco/options/chosen_dtype.hpp>
#include <redco/options/value_text.hpp>
#include <redco/safetensors/xxh64.hpp>
#include <redco/shape/axis.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/shape/zero.hpp>
#include <redco/diag/input_file.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace redco::run {

/// Advice in the error message for every difference between processes.
inline constexpr char const* start_alike =
    "start all processes by the same command, with the same program, files and environment";

/// Choices of a process for its run, made from its options, its environment and its machine.
struct process_choices {
  redco::mesh mesh{};
  shape::zero zero = {};
  c10::DeviceType device = c10::DeviceType::CPU;
  dtype compute = dtype::f32;
  tensors::kernel_set kernels = tensors::kernel_set::fastest;
  bool overlaps_shards = false;
  /// True if the shards of one replica are in several processes. Each process computes replicated
  /// parameters and sampled tokens itself, and they must stay equal to the last bit.
  bool shards_span_processes = false;
  int threads = 1;  ///< Threads of a rank; compared only if shards_span_processes
  /// Instruction set that libtorch uses; compared between processes only if shards_span_processes.
  std::string instruction_set;
  /// Implementation of bf16 matrix products; compared only if shards_span_processes.
  tensors::bf16_path bf16_products{};
  /// Implementation of large f32 matrix products; compared only if shards_span_processes.
  tensors::f32_path f32_products{};
};

/// Returns the digest of the program's file, which is read once.
inline std::string const& program_digest() {
  static std::string const digest =
      safetensors::xxh64::text_of(safetensors::xxh64::of(diag::input_file("/proc/self/exe")));
  return digest;
}

/// Returns the values that all processes compare before they know their mesh. They are the digest
/// of the program's file, the build settings in `torch` (the text of at::show_config()), and
/// options.
inline comm::agreement opening_agreement(std::string program_digest, std::string const& torch,
                                         std::map<std::string, std::string> const& options) {
  comm::agreement opening("programs or options", start_alike);
  opening.add("the digest of the program's file", std::move(program_digest));
  opening.add("libtorch", torch.substr(std::min(torch.find("Build settings"), torch.size())));
  opening.add(options);
  return opening;
}

/// Returns the choices that all processes compare after they know their mesh.
comm::agreement agreement_of(process_choices const& chosen);

/// Returns a log line about the dtype of a run, such as "dtype bf16: ...", with the library that
/// multiplies bf16 matrices and the kernels in use.
inline std::string dtype_text(options::chosen_dtype const& chosen, at::Device device) {
  std::string text = "dtype " + std::string(name_of(chosen.compute)) + ": " + chosen.why;
  tensors::kernel_set const kernels = tensors::kernel_set_in_use();
  if (chosen.compute == dtype::bf16 && kernels == tensors::kernel_set::fastest && device == tensors::cpu_device())
    text += "; products by " + std::string(name_of(tensors::bf16_path_in_use()));
  text += "; kernels " + std::string(name_of(kernels));
  return text;
}

/// Returns the end of a sentence about the state of experts, if ranks along the mesh axis ep hold
/// different ones.
inline std::string expert_state_text(shape::zero const& zero, mesh const& on) {
  if (on.ep == 1) return "";
  shape::axes const over = zero.shared_over.without(shape::axis::ep);
  bool const in_groups = !over.has(shape::axis::dp);
  if (on.size(over) == 1)
    return std::string("; each rank keeps the whole state of its experts, because ") +
           (in_groups ? "a group has no other rank with these experts" : "dp is 1");
  return "; each of " + std::to_string(on.size(over)) +
         (in_groups ? " ranks of a group with equal experts" : " ranks along dp") +
         " keeps a share of its experts' state";
}

/// Returns a log line about the state that the replicas of the mesh `on` share out (ZeRO).
inline std::string zero_text(shape::zero const& zero, mesh const& on) {
  bool const gradients = zero.on(on).sums_in_backward(), values = zero.shares_values();
  int const replicas = on.size(zero.shared_over), groups = on.size(shape::token_axes.without(zero.shared_over));
  return "zero " + std::to_string(zero.level) +
         (replicas > 1
              ? ": each of " + std::to_string(replicas) + " replicas keeps a share of the optimizer's state" +
                    (gradients && values ? ", of the gradients and of the parameters"
                     : gradients         ? " and of the gradients"
                     : values            ? " and of the parameters"
                                         : "") +
                    (zero.owner == shape::zero_owner::whole ? ", in whole matrices" : "") +
                    (groups > 1 ? "; " + std::to_string(groups) + " groups of replicas keep equal shares" : "") +
                    expert_state_text(zero, on) +
                    (zero.level > 1 && on.pp > 1 ? "; a pipeline stage keeps all its gradients" : "")
              : std::string(": nothing is shared out, because there is one replica"));
}

inline comm::agreement agreement_of(process_choices const& chosen) {
  comm::agreement all("machines or environments", start_alike);
  all.add("mesh", options::to_text(chosen.mesh));
  all.add("replicas of a group (--zero-within)",
          std::to_string(chosen.mesh.size(chosen.zero.shared_over & shape::batch_axes)));
  all.add("device (--device)", c10::DeviceTypeName(chosen.device, true));
  all.add("dtype (--dtype)", std::string(name_of(chosen.compute)));
  all.add("REDCO_KERNELS", std::string(name_of(chosen.kernels)));
  all.add("bytes of a gradient bucket", std::to_string(chosen.zero.bucket));
  all.add("overlap of messages between shards", chosen.overlaps_shards ? "on" : "off");
  if (!chosen.shards_span_processes) return all;
  all.add("threads of a rank (--threads)", std::to_string(chosen.threads));
  all.add("instruction set", chosen.instruction_set);
  all.add("REDCO_BF16_PRODUCTS", std::string(name_of(chosen.bf16_products)));
  all.add("REDCO_F32_PRODUCTS", std::string(name_of(chosen.f32_products)));
  return all;
}

}  // namespace redco::run
