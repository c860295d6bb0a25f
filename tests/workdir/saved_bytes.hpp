#pragma once

// A checkpoint of one rank without tensors of libtorch: three files of bytes, committed like those
// of a run.

#include <redco/workdir/checkpoint_names.hpp>
#include <redco/workdir/checkpoint_store.hpp>
#include <redco/safetensors/file_ops.hpp>
#include <redco/safetensors/output_file.hpp>
#include <redco/safetensors/safetensors_plan.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace ckpt_test {

/// Saves the checkpoint of step `step` through the file operations `ops`.
template <redco::safetensors::file_ops Ops>
void save_bytes_with(Ops& ops, std::filesystem::path const& workdir, std::int64_t step, std::string const& run,
                     std::vector<std::string> const& pointers,
                     redco::workdir::manifest::branch_facts const& branch = {}) {
  redco::workdir::checkpoint_store<Ops> store(ops, workdir / redco::workdir::checkpoint_names::folder, run);
  redco::workdir::manifest facts;
  facts.run = run;
  facts.step = step;
  facts.branch = branch;
  facts.names = pointers;
  store.begin(step);
  for (std::string const name : {"wte.weight", "master.wte.weight", "optimizer.m.wte.weight"}) {
    std::vector<std::int64_t> const shape{16, 25};
    std::string const kind = redco::workdir::kind_of(name);
    std::string const file = redco::workdir::file_name(kind, {kind + "\n"}, 0);
    auto const plan = redco::safetensors::plan_safetensors({{name, redco::safetensors::file_dtype::u8, shape}});
    redco::safetensors::output_file<Ops> out(ops, store.unfinished(step) / file);
    out.write(plan.header);
    out.write(std::string(400, static_cast<char>('a' + step)));
    out.finish();
    facts.tensors[name] = {redco::safetensors::file_dtype::u8, shape, {{file, {0, 0}, shape}}};
    facts.files[file] = {out.size(), out.digest()};
  }
  store.commit(facts);
  store.point(step, pointers);
}

inline void save_bytes(std::filesystem::path const& workdir, std::int64_t step, std::string const& run = "run-a",
                       std::vector<std::string> const& pointers = {},
                       redco::workdir::manifest::branch_facts const& branch = {}) {
  redco::safetensors::posix_file_ops ops;
  save_bytes_with(ops, workdir, step, run, pointers, branch);
}

}  // namespace ckpt_test
