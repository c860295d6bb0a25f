#pragma once

#include <redco/ckpt/detail/disk_phase.hpp>
#include <redco/ckpt/detail/together.hpp>
#include <redco/ckpt/state_part.hpp>
#include <redco/workdir/disk_limits.hpp>
#include <redco/workdir/find_checkpoint.hpp>
#include <redco/workdir/manifest.hpp>
#include <redco/workdir/read_manifest.hpp>
#include <redco/safetensors/box.hpp>
#include <redco/safetensors/tensor_table.hpp>
#include <redco/safetensors/xxh64.hpp>

#include <redco/comm/group.hpp>
#include <redco/comm/rank_hosts.hpp>
#include <redco/diag/error.hpp>
#include <redco/diag/input_file.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redco::ckpt::detail {

/// Returns true if this host has the checkpoint that rank 0 has found. Other hosts may have no
/// folder under this path, or a folder of another run.
inline bool sees(workdir::found_checkpoint const& checkpoint) {
  try {
    workdir::manifest const here = workdir::read_manifest(checkpoint.directory);
    return here.run == checkpoint.facts.run && here.files == checkpoint.facts.files;
  } catch (error const&) {
    return false;
  }
}

/// Returns the names of the files with elements of `parts`, one per line.
inline std::string files_of(workdir::manifest const& facts, std::span<state_part const> parts) {
  std::set<std::string> files;
  for (state_part const& part : parts) {
    auto const stored = facts.tensors.find(part.name);
    if (stored == facts.tensors.end() || stored->second.shape != part.shape) continue;
    for (safetensors::tensor_part const& one : stored->second.parts)
      if (safetensors::intersect({one.offset, one.shape}, part.box)) files.insert(one.file);
  }
  std::string lines;
  for (std::string const& file : files) lines += file + "\n";
  return lines;
}

/// Divides the files of a checkpoint among the ranks that hash them. `readers`: for each rank a
/// line with its host, then the files that it reads, one per line. The text is empty if the rank's
/// host does not have the checkpoint. Each host hashes the files that its ranks read; any rank
/// hashes a file that no rank reads. Large files go first, each to the rank with the fewest bytes.
inline std::vector<std::vector<std::string>> files_to_hash(
    std::map<std::string, workdir::manifest::file_facts> const& files, std::vector<std::string> const& readers) {
  std::vector<std::vector<std::string>> hashed(readers.size());
  std::vector<std::uint64_t> bytes(readers.size());
  std::map<std::string, std::vector<std::size_t>> hosts;
  std::vector<std::size_t> everyone;
  for (std::size_t rank = 0; rank < readers.size(); ++rank) {
    if (readers[rank].empty()) continue;
    hosts[readers[rank].substr(0, readers[rank].find('\n'))].push_back(rank);
    everyone.push_back(rank);
  }
  std::vector<std::pair<std::uint64_t, std::string>> by_size;
  for (auto const& [name, file] : files) by_size.emplace_back(file.bytes, name);
  std::sort(by_size.rbegin(), by_size.rend());
  auto const give = [&](std::string const& name, std::uint64_t size, std::vector<std::size_t> const& ranks) {
    std::size_t const least = *std::min_element(ranks.begin(), ranks.end(),
                                                [&](std::size_t a, std::size_t b) { return bytes[a] < bytes[b]; });
    hashed[least].push_back(name);
    bytes[least] += size;
  };
  for (auto const& [size, name] : by_size) {
    std::string const line = "\n" + name + "\n";
    bool read = false;
    for (auto const& [host, ranks] : hosts) {
      bool const here = std::any_of(ranks.begin(), ranks.end(),
                                    [&](std::size_t rank) { return readers[rank].find(line) != std::string::npos; });
      if (here) give(name, size, ranks);
      read = read || here;
    }
    if (!read && !everyone.empty()) give(name, size, everyone);
  }
  return hashed;
}

/// Hashes the files of a checkpoint, each by one of the ranks that read it. Returns, on all ranks,
/// the first file that differs from the manifest as a sentence, or an empty text. All ranks must
/// call it. `parts`: the parts that this rank will read. Throws `error` with exit code 74 if a rank
/// cannot read.
inline std::string damage_of(comm::group& world, workdir::found_checkpoint const& checkpoint,
                             std::span<state_part const> parts, workdir::disk_limits const& limits) {
  auto const& files = checkpoint.facts.files;
  auto const readers = together(world, [&] {
    return sees(checkpoint) ? "host" + comm::on_host_of_rank(world.rank()) + "\n" + files_of(checkpoint.facts, parts)
                            : std::string();
  });
  auto const own = files_to_hash(files, readers).at(static_cast<std::size_t>(world.rank()));
  std::uint64_t bytes = 0;
  for (std::string const& name : own) bytes += files.at(name).bytes;
  std::string const task = "checking step " + std::to_string(checkpoint.facts.step);
  diag::outcomes const result = attempt_on_disk(world, task, bytes, limits, [&](disk_phase& phase) {
    for (std::string const& name : own) {
      std::filesystem::path const path = checkpoint.directory / name;
      diag::input_file const file(path, diag::links::refused);
      std::uint64_t const hash = safetensors::xxh64::of(file, [&](std::uint64_t read) { phase.add(read); });
      if (hash != files.at(name).xxh64)
        throw error(exit_code::data, path.string() + " is damaged: its XXH64 is not the manifest's " +
                                         safetensors::xxh64::text_of(files.at(name).xxh64) +
                                         ". Resume from another checkpoint.");
    }
    return std::string();
  });
  if (!result.failure) return {};
  if (result.failure->code() != exit_code::data) throw *result.failure;
  return result.failure->what();
}

}  // namespace redco::ckpt::detail
