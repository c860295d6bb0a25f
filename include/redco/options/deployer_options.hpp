#pragma once

#include <redco/options/launch.hpp>
#include <redco/shape/blocks.hpp>
#include <redco/shape/dtype.hpp>
#include <redco/shape/mesh.hpp>
#include <redco/shape/zero.hpp>
#include <redco/diag/error.hpp>
#include <redco/meta/fields.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace redco::options {

/// Returns the mesh of `ranks` ranks in which each replica has `n_model_shards` tensor-parallel
/// shards.
///
/// Throws `error` with exit code 64 unless both numbers are positive and `n_model_shards` divides
/// `ranks`.
inline mesh mesh_of(int ranks, int n_model_shards, int n_pipeline_stages = 1) {
  std::int64_t const of_replica = std::int64_t{n_model_shards} * n_pipeline_stages;
  if (ranks >= 1 && of_replica >= 1 && ranks % of_replica == 0)
    return {.pp = n_pipeline_stages, .dp = static_cast<int>(ranks / of_replica), .tp = n_model_shards};
  if (n_pipeline_stages == 1)
    throw error(exit_code::usage, std::to_string(ranks) + " ranks cannot hold copies of " +
                                      std::to_string(n_model_shards) +
                                      " model shards each: make --ranks a multiple of --n-model-shards");
  throw error(exit_code::usage, std::to_string(ranks) + " ranks cannot hold copies of " +
                                    std::to_string(n_pipeline_stages) + " pipeline stages of " +
                                    std::to_string(n_model_shards) +
                                    " model shards each: make --ranks a multiple of --n-pipeline-stages times "
                                    "--n-model-shards");
}

}  // namespace redco::options

namespace redco {

/// Options that every redco program takes from its command line: ranks, mesh, device, precision,
/// folders and communication.
struct deployer_options {
  std::optional<int> ranks = {};
  int n_model_shards = 1;
  int n_pipeline_stages = 1;
  std::string stages = {};
  std::string schedule = "1f1b";
  int chunks_per_stage = 1;
  int zero = 0;
  shape::zero_owner zero_owner = shape::zero_owner::element;
  std::int64_t zero_keep = 0;
  std::string zero_within = "run";
  std::optional<redco::mesh> mesh = {};
  std::filesystem::path workdir = "run";
  std::uint64_t seed = 42;
  std::string device = "auto";
  std::optional<redco::dtype> dtype = {};
  recomputed_blocks recompute = {};
  std::string resume = "auto";
  bool strict_resume = false;
  int threads = 0;
  std::optional<double> deadline = {};
  double disk_deadline = 1800;
  double save_patience = 600;
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
            "number of ranks, each a thread, equally many per process; default: a launcher's processes, else the model shards")
            .at_least(1)
            .in_group("mesh"),
        field<"n_model_shards">(&o::n_model_shards, "ranks that share one copy of the model")
            .at_least(1)
            .in_group("mesh"),
        field<"n_pipeline_stages">(&o::n_pipeline_stages,
                                   "pipeline stages, each a consecutive part of the model's blocks on its own ranks")
            .at_least(1)
            .in_group("mesh"),
        field<"stages">(&o::stages, "number of blocks of each pipeline stage, such as 3,3,2; default: about equal work")
            .in_group("mesh"),
        field<"schedule">(
            &o::schedule,
            "order in which pipeline stages compute micro-batches: 1f1b, gpipe, interleaved, or a file in PyTorch's notation")
            .in_group("mesh"),
        field<"chunks_per_stage">(&o::chunks_per_stage,
                                  "parts of the model's blocks that each stage runs, at least 2 for interleaved")
            .at_least(1)
            .in_group("mesh"),
        field<"zero">(
            &o::zero,
            "1: each replica keeps and updates a share of the optimizer's state and f32 parameters; 2: and of "
            "the gradients; 3: and of the parameters (ZeRO)")
            .at_least(0)
            .in_group("mesh"),
        field<"zero_owner">(&o::zero_owner,
                            "with --zero, element: each replica keeps a share of every parameter's elements; whole: "
                            "each hidden matrix belongs to one replica, as Muon and Adafactor need")
            .in_group("mesh"),
        field<"zero_within">(&o::zero_within,
                             "with --zero, the replicas that share state out among each other: run (all), host (those "
                             "of one machine), or their number; the groups keep equal state")
            .in_group("mesh"),
        field<"zero_keep">(&o::zero_keep,
                           "with --zero 3, blocks whose gathered parameters stay in memory over a step, from the first")
            .at_least(0)
            .in_group("mesh"),
        field<"mesh">(&o::mesh, "data-parallel x tensor-parallel ranks, or axes by name, instead of numbers above")
            .in_group("mesh"),
        field<"workdir">(&o::workdir, "folder for logs, metrics and checkpoints").in_group("checkpoints"),
        field<"seed">(&o::seed, "seed of parameters, dropout and the order of examples").in_group("computation"),
        field<"device">(&o::device,
                        "device that computes: cpu, cuda, or auto (cuda if a device and its libraries exist)")
            .in_group("computation"),
        field<"dtype">(&o::dtype,
                       "type that the model computes in; default: bf16 if the device multiplies it faster, else f32")
            .in_group("computation"),
        field<"tf32">(&o::tf32, "rounds the factors of f32 products to 10 bits on CUDA devices, which is faster")
            .in_group("computation"),
        field<"cuda_graph">(&o::cuda_graph,
                            "records forward and backward once per batch shape, and repeats them as a CUDA graph")
            .in_group("computation"),
        field<"recompute">(
            &o::recompute,
            "keeps only the input of these blocks and computes them again in backward: all, every k-th, the first n, or "
            "blocks B to E - 1 (from 0)")
            .in_group("computation"),
        field<"resume">(&o::resume, "checkpoint to continue from: auto (the newest in workdir), none, or a path")
            .in_group("checkpoints"),
        field<"strict_resume">(&o::strict_resume,
                               "refuses to continue with other examples or another program file than the checkpoint's, "
                               "instead of a warning")
            .in_group("checkpoints"),
        field<"threads">(&o::threads, "threads of each rank; 0: the cores divided by the ranks")
            .at_least(0)
            .in_group("computation")
            .per_process(),
        field<"deadline">(
            &o::deadline,
            "seconds that ranks wait for each other, 0.001 to 1e8, from the start; default: 120, and 300 until the first "
            "step is over")
            .in_group("communication"),
        field<"disk_deadline">(
            &o::disk_deadline,
            "seconds that ranks wait for a rank whose disk does nothing while they load weights, save, or write results, 0.001 to 1e8")
            .in_group("checkpoints"),
        field<"save_patience">(
            &o::save_patience,
            "seconds during which the last save of a run is repeated while the disk has no room, at most 1e8")
            .at_least(0)
            .in_group("checkpoints"),
        field<"overlap">(
            &o::overlap,
            "send gradients during backward (default: between processes), and activations of shards during matrix products (default: between hosts)")
            .in_group("communication"),
        field<"gradient_bucket">(&o::gradient_bucket,
                                 "MiB of gradients that are summed together while they overlap with backward, more "
                                 "than 0 and at most 1e6")
            .in_group("communication"),
        field<"deterministic">(
            &o::deterministic,
            "sums in rank order even if processes with several ranks would otherwise send fewer bytes")
            .in_group("communication"),
        field<"quiet">(&o::quiet, "prints plain lines without a progress bar").in_group("logging").per_process(),
        field<"check_saved">(
            &o::check_saved,
            "compares the tensors that the first step saves for backward with the layers' declarations; for CPUs")
            .in_group("checks"),
        field<"verify">(
            &o::verify,
            "compares the first steps on this mesh with one rank instead of training, in f64 without --dtype")
            .in_group("checks"),
        field<"verify_steps">(&o::verify_steps, "updates that --verify compares").at_least(1).in_group("checks"));
  }
};

}  // namespace redco

namespace redco::options {

/// Returns the mesh that the options request. Throws `error` with exit code 64 if the ranks cannot
/// form the mesh, or if the launcher's processes cannot share them evenly. Also throws 64 for an
/// invalid number of threads, an invalid deadline or an unknown level of ZeRO.
mesh mesh_of(deployer_options const& o, launch const& how = launched());

/// The options of a program whose model has no repeated blocks: `deployer_options` without
/// --recompute, --zero-keep and the options of pipeline stages, because they work on repeated
/// blocks.
struct blockless_options : deployer_options {
  static constexpr auto fields() {
    return meta::fields_without<deployer_options, "recompute", "n_pipeline_stages", "stages", "schedule",
                                "chunks_per_stage", "zero_keep">();
  }
};

/// The options of a program that only predicts: `deployer_options` without --workdir and all
/// options that only training reads.
struct predicting_options : deployer_options {
  static constexpr auto fields() {
    using o = deployer_options;
    return redco::fields(
        meta::field_named<o, "ranks">(), meta::field_named<o, "n_model_shards">(),
        meta::field_named<o, "n_pipeline_stages">(), meta::field_named<o, "stages">(), meta::field_named<o, "mesh">(),
        field<"seed">(&o::seed, "seed of all random numbers").in_group("computation"), meta::field_named<o, "device">(),
        meta::field_named<o, "dtype">(), meta::field_named<o, "tf32">(), meta::field_named<o, "threads">(),
        meta::field_named<o, "deadline">(), meta::field_named<o, "deterministic">());
  }
};

}  // namespace redco::options

namespace redco {

/// The options of a program whose training loop uses a `worker`: `deployer_options` without the
/// options that only `fit` reads, and without those that need repeated blocks.
struct stepping_options : deployer_options {
  static constexpr auto fields() {
    return meta::fields_without<deployer_options, "cuda_graph", "recompute", "check_saved", "n_pipeline_stages",
                                "stages", "schedule", "chunks_per_stage", "zero_keep">();
  }
};

}  // namespace redco

#include <redco/config.hpp>
#ifndef REDCO_COMPILED
#include <redco/options/deployer_options.inl.hpp>
#endif
