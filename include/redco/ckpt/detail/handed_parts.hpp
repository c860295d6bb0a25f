#pragma once

#include <redco/ckpt/detail/disk_phase.hpp>
#include <redco/ckpt/detail/write_parts.hpp>
#include <redco/ckpt/read_parts.hpp>
#include <redco/ckpt/state_part.hpp>
#include <redco/workdir/manifest.hpp>
#include <redco/safetensors/box.hpp>
#include <redco/safetensors/file_ops.hpp>
#include <redco/safetensors/output_file.hpp>
#include <redco/safetensors/safetensors_plan.hpp>
#include <redco/safetensors/safetensors_reader.hpp>
#include <redco/safetensors/tensor_table.hpp>

#include <redco/comm/group.hpp>
#include <redco/diag/error.hpp>

#include <redco/tensor/device.hpp>
#include <redco/tensor/torch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

// Exchanges with ranks whose host does not see the checkpoint folder: rank 0 writes and reads for
// them. After a failure the exchange continues to its end, because the partner does not know of the
// failure; the failure is reported afterwards.

namespace redco::ckpt::detail {

/// Largest size of a message in bytes.
inline constexpr std::size_t handed_bytes = std::size_t{16} << 20;

/// Sends bytes to rank `to` in messages of at most 16 MiB. Waits for a request from that rank
/// before each message, and adds each message to `phase`. The counterpart of take_over().
inline void hand_over(comm::group& world, int to, std::span<std::byte> bytes, disk_phase& phase) {
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(handed_bytes, bytes.size()))) {
    at::Tensor const asked = at::empty({1}, at::kByte);
    world.recv(asked, to);
    auto const count = static_cast<std::int64_t>(std::min(handed_bytes, bytes.size()));
    world.send(at::from_blob(bytes.data(), {count}, at::kByte), to);
    phase.add_message(static_cast<std::uint64_t>(count));
  }
}

/// Receives `bytes` bytes that rank `from` sends by hand_over(). Requests one message at a time and
/// calls take(message) for each. Adds each message to `phase`.
template <class Take>
void take_over(comm::group& world, int from, std::size_t bytes, disk_phase& phase, Take const& take) {
  while (bytes > 0) {
    at::Tensor const piece = at::empty({static_cast<std::int64_t>(std::min(handed_bytes, bytes))}, at::kByte);
    world.send(at::ones({1}, at::kByte), from);
    world.recv(piece, from);
    take(bytes_of(piece));
    bytes -= piece.nbytes();
    phase.add_message(piece.nbytes());
  }
}

/// A store for the first error of several pieces of work. After an error, attempt() skips later
/// work, and raise() throws the error.
class first_failure {
 public:
  template <class Work>
  void attempt(Work const& work) {
    if (failure_) return;
    try {
      work();
    } catch (error const& failure) {
      failure_ = failure;
    }
  }
  void raise() const {
    if (failure_) throw *failure_;
  }

 private:
  std::optional<error> failure_;
};

/// Sends the tensors of this rank's checkpoint files to rank 0, which writes the files. `kinds`:
/// parts by the kind of file. Files follow each other, and tensors have their order in the file.
inline void hand_over_files(std::map<std::string, std::vector<written_part>> const& kinds, comm::group& world,
                            disk_phase& phase) {
  for (auto const& [kind, parts] : kinds) {
    std::map<std::string, state_part const*> by_name;
    std::vector<safetensors::safetensors_entry> entries;
    for (auto const& [part, stored_name] : parts) {
      by_name[stored_name] = part;
      entries.push_back({stored_name, file_dtype_of(part->local.scalar_type()), part->box.shape});
    }
    for (auto const& entry : safetensors::plan_safetensors(std::move(entries)).entries) {
      at::Tensor const values = held_values(*by_name.at(entry.name)).to(tensors::cpu_device()).contiguous();
      hand_over(world, 0, bytes_of(values), phase);
    }
  }
}

/// Receives the tensors of rank `from`, writes that rank's checkpoint files, and adds the files to
/// `share`, that rank's part of the manifest. Called by rank 0 for a rank whose host does not see
/// the folder.
template <safetensors::file_ops Ops>
void take_over_files(Ops& ops, std::filesystem::path const& directory, workdir::manifest& share, int from,
                     comm::group& world, disk_phase& phase, first_failure& failure) {
  // sorted by name, the order in which the rank sends them
  std::map<std::string, std::vector<safetensors::safetensors_entry>> files;
  for (auto const& [name, tensor] : share.tensors)
    for (safetensors::tensor_part const& part : tensor.parts)
      files[part.file].push_back({part.name.empty() ? name : part.name, tensor.type, part.shape});
  for (auto& one : files) {
    std::string const& name = one.first;
    safetensors::safetensors_plan const plan = safetensors::plan_safetensors(std::move(one.second));
    std::optional<safetensors::output_file<Ops>> file;
    failure.attempt([&] { file.emplace(ops, directory / name).write(plan.header); });
    for (auto const& entry : plan.entries)
      take_over(world, from, static_cast<std::size_t>(entry.end - entry.begin), phase,
                [&](std::span<std::byte const> piece) { failure.attempt([&] { file->write(piece); }); });
    failure.attempt([&] {
      file->finish();
      share.files[name] = {file->size(), file->digest()};
    });
  }
}

/// Returns the parts by tensor name, without parts that hold no element (only padding).
inline std::map<std::string, std::vector<state_part const*>> wanted_parts(std::span<state_part const> parts) {
  std::map<std::string, std::vector<state_part const*>> wanted;
  for (state_part const& part : parts)
    if (safetensors::count_of(part.box.shape) > 0) wanted[part.name].push_back(&part);
  return wanted;
}

/// Returns a table of the boxes (offsets and sizes) that this rank wants of each tensor. The rank
/// sends it to rank 0, which passes it to hand_over_wished().
inline safetensors::tensor_table wishes_of(std::span<state_part const> parts) {
  safetensors::tensor_table wishes;
  for (auto const& [name, all] : wanted_parts(parts)) {
    wishes[name] = {file_dtype_of(all.front()->local.scalar_type()), all.front()->shape, {}};
    for (state_part const* const part : all) wishes[name].parts.push_back({"wish", part->box.offset, part->box.shape});
  }
  return wishes;
}

/// Reads the boxes in `wishes`, the table of what rank `to` wants, and sends them to that rank.
/// Called by rank 0 for a rank whose host does not see the files.
inline void hand_over_wished(safetensors::open_files const& files, safetensors::tensor_table const& table,
                             safetensors::tensor_table const& wishes, int to, comm::group& world, disk_phase& phase,
                             first_failure& failure) {
  for (auto const& [name, wish] : wishes) {
    for (safetensors::tensor_part const& wished : wish.parts) {
      at::Tensor const values = at::empty(wished.shape, scalar_type_of(wish.type));
      state_part const part{name, wish.shape, values, {wished.offset, wished.shape}};
      failure.attempt([&] { read_parts(files, table, {&part, 1}); });
      hand_over(world, to, bytes_of(values), phase);
    }
  }
}

/// Fills this rank's parts with values that rank 0 reads and sends. Sets padding to zero.
inline void take_over_wished(std::span<state_part const> parts, comm::group& world, disk_phase& phase) {
  at::NoGradGuard const no_grad;
  for (state_part const& part : parts) part.local.detach().zero_();
  for (auto const& [name, all] : wanted_parts(parts)) {
    for (state_part const* const part : all) {
      at::Tensor const values = at::empty(part->box.shape, part->local.scalar_type());
      std::size_t done = 0;
      take_over(world, 0, values.nbytes(), phase, [&](std::span<std::byte const> piece) {
        std::copy(piece.begin(), piece.end(), bytes_of(values).begin() + static_cast<std::ptrdiff_t>(done));
        done += piece.size();
      });
      held_values(*part).copy_(values);
    }
  }
}

}  // namespace redco::ckpt::detail
