#pragma once

#include <redco/options/launch.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/shape/recomputed_blocks.hpp>
#include <redco/meta/fields.hpp>

#include <redco/diag/error.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace redco {

/// Options that every redco program takes from its command line: ranks, mesh, device, precision,
/// folders and communication.
struct deployer_options {
  std::optional<int> ranks = {};
  int n_model_shards = 1;
  std::optional<redco::mesh> mesh = {};
  std::filesystem::path workdir = "run";
  std::uint64_t seed = 42;
  std::string device = "auto";
  std::optional<redco::dtype> dtype = {};
  recomputed_blocks recompute = {};
  std::string resume = "auto";
  int threads = 0;
  std::optional<double> deadline = {};
  std::optional<bool> overlap = {};
  double gradient_bucket = 4;
  bool tf32 = false;
  bool cuda_graph = false;
  bool deterministic = false;
  bool quiet = false;
  bool check_saved = false;
  bool verify = false;
  std::int64_t verify_steps = 2;

  static constexpr auto fields() {
    using o = deployer_options;
    return redco::fields(
        field<"ranks">(
            &o::ranks,
            "workers, as many in each process, a thread each; default: a launcher's processes, else the model shards")
            .at_least(1),
        field<"n_model_shards">(&o::n_model_shards, "ranks that share one copy of the model").at_least(1),
        field<"mesh">(&o::mesh, "data-parallel x tensor-parallel ranks, instead of the two above"),
        field<"workdir">(&o::workdir, "folder for logs, metrics and checkpoints"),
        field<"seed">(&o::seed, "of parameters, dropout and the order of examples"),
        field<"device">(&o::device, "what computes: cpu, cuda, or auto: cuda where a device and its libraries are"),
        field<"dtype">(&o::dtype, "f32, bf16 or f64; default: bf16 where the device multiplies it faster, else f32"),
        field<"tf32">(&o::tf32, "CUDA devices round the factors of f32 products to 10 bits: faster"),
        field<"cuda_graph">(&o::cuda_graph,
                            "record forward and backward of a batch's shape once, and repeat them as a CUDA graph"),
        field<"recompute">(
            &o::recompute,
            "keep only the input of all blocks, every k-th or the first n, and compute them again in backward"),
        field<"resume">(&o::resume, "auto: from the newest checkpoint in workdir; none; or a checkpoint's path"),
        field<"threads">(&o::threads, "per rank; 0: the cores divided by the ranks").at_least(0),
        field<"deadline">(
            &o::deadline,
            "seconds that ranks wait for each other, from the start on; default: 120, and 300 until the first step"),
        field<"overlap">(
            &o::overlap,
            "send gradients during backward (default: between processes), and activations of shards during matrix products (default: between hosts)"),
        field<"gradient_bucket">(&o::gradient_bucket, "MiB of gradients that are summed at once then"),
        field<"deterministic">(
            &o::deterministic,
            "sums in rank order also where processes of several ranks would send less; all others do"),
        field<"quiet">(&o::quiet, "no progress bar, plain lines only"),
        field<"check_saved">(&o::check_saved,
                             "compare what the first step keeps for backward with what layers declare"),
        field<"verify">(&o::verify,
                        "train nothing: compare the first steps on this mesh with one rank, in f64 without --dtype"),
        field<"verify_steps">(&o::verify_steps, "updates that --verify compares").at_least(1));
  }
};

/// Returns the mesh that the options request. Throws `error` with exit code 64 if the ranks cannot
/// form the mesh, or if the launcher's processes cannot share them evenly. Also throws 64 for an
/// invalid number of threads or an invalid deadline.
mesh mesh_of(deployer_options const& o, options::launch const& how = options::launched());

}  // namespace redco

#ifndef REDCO_COMPILED
#include <redco/options/deployer_options.inl.hpp>
#endif
