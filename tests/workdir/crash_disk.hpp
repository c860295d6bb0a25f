#pragma once

#include <redco/safetensors/file_ops.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ckpt_test {

/// File operations on a real folder that also record what a power cut would leave. A change of a
/// directory survives a power cut if the directory is synced later. Each unsynced change may
/// survive or not, in any combination; rename and exchange are atomic. Content of files that are
/// not synced is lost.
class crash_disk {
 public:
  /// Creates the operations for the empty folder `root`. `swaps`: false if the file system cannot
  /// exchange names.
  crash_disk(std::filesystem::path root, bool swaps) : root_(std::move(root)), swaps_(swaps), nodes_(1) {}

  int make_directory(char const* path) {
    return done(disk_.make_directory(path), [&] { change({entry(path, fresh(true))}); });
  }
  int create(char const* path) {
    int const file = disk_.create(path);
    done(file < 0 ? -1 : 0, [&] {
      change({entry(path, fresh(false))});
      open_[file] = node_of(path);
    });
    return file;
  }
  ::ssize_t write(int file, void const* bytes, std::size_t count) {
    nodes_[open_.at(file)].content.append(static_cast<char const*>(bytes), count);
    return disk_.write(file, bytes, count);
  }
  int sync(int file) {
    events_.push_back({.synced_file = open_.at(file), .content = nodes_[open_.at(file)].content});
    return disk_.sync(file);
  }
  int close(int file) { return disk_.close(file); }
  int rename(char const* from, char const* to) {
    return done(disk_.rename(from, to), [&] { change({entry(to, node_of(from)), entry(from, none)}); });
  }
  int exchange(char const* a, char const* b) {
    if (!swaps_) {
      errno = EINVAL;
      return -1;
    }
    return done(disk_.exchange(a, b), [&] { change({entry(a, node_of(b)), entry(b, node_of(a))}); });
  }
  int make_link(char const* target, char const* path) {
    return done(disk_.make_link(target, path), [&] {
      std::size_t const made = fresh(false);
      nodes_[made].target = target;
      change({entry(path, made)});
    });
  }
  int remove_file(char const* path) {
    return done(disk_.remove_file(path), [&] { change({entry(path, none)}); });
  }
  int remove_directory(char const* path) {
    return done(disk_.remove_directory(path), [&] { change({entry(path, none)}); });
  }
  int sync_directory(char const* path) {
    events_.push_back({.synced_directory = node_of(path)});
    return disk_.sync_directory(path);
  }

  std::size_t events() const { return events_.size(); }

  /// Calls `visit(folder)` for each different state of the disk after a power cut at any time after
  /// the first `durable` events, which all survive. Each state is made in a new folder under
  /// `place`.
  template <class Visit>
  std::size_t each_state(std::size_t durable, std::filesystem::path const& place, Visit const& visit) const {
    std::set<std::string> seen;
    for (std::size_t end = durable; end <= events_.size(); ++end) {
      std::vector<std::size_t> const open = unsynced(durable, end);
      std::size_t const most = std::min<std::size_t>(open.size(), 12);
      for (std::size_t mask = 0; mask < (std::size_t{1} << most); ++mask) {
        std::set<std::size_t> lost;
        for (std::size_t bit = 0; bit < most; ++bit)
          if ((mask >> bit & 1) != 0) lost.insert(open[open.size() - 1 - bit]);
        state const left = after(end, lost);
        if (!seen.insert(text_of(left, 0)).second) continue;
        std::filesystem::path const folder = place / std::to_string(seen.size());
        make(left, 0, folder);
        visit(folder);
        std::filesystem::remove_all(folder);
      }
    }
    return seen.size();
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  struct node {
    bool directory = true;
    std::string content = {}, target = {};
  };
  /// A change of one name in a directory; `child` is `none` if the name is removed.
  struct name_change {
    std::size_t directory;
    std::string name;
    std::size_t child;
  };
  struct event {
    std::vector<name_change> changes = {};
    std::size_t synced_file = none, synced_directory = none;
    std::string content = {};
  };
  struct state {
    std::map<std::size_t, std::map<std::string, std::size_t>> names;
    std::map<std::size_t, std::string> content;
  };

  template <class Record>
  static int done(int result, Record const& record) {
    if (result == 0) record();
    return result;
  }
  std::size_t fresh(bool directory) {
    nodes_.push_back({.directory = directory});
    return nodes_.size() - 1;
  }
  void change(std::vector<name_change> changes) {
    for (name_change const& one : changes) {
      if (one.child == none) names_[one.directory].erase(one.name);
      else names_[one.directory][one.name] = one.child;
    }
    events_.push_back({.changes = std::move(changes)});
  }
  std::size_t node_of(std::filesystem::path const& path) const {
    std::size_t at = 0;
    for (auto const& part : path.lexically_relative(root_))
      if (part != ".") at = names_.at(at).at(part.string());
    return at;
  }
  name_change entry(std::filesystem::path const& path, std::size_t child) const {
    return {node_of(path.parent_path()), path.filename().string(), child};
  }

  std::vector<std::size_t> unsynced(std::size_t durable, std::size_t end) const {
    std::vector<std::size_t> open;
    for (std::size_t i = durable; i < end; ++i) {
      event const& one = events_[i];
      bool safe = one.changes.empty();
      for (std::size_t j = i + 1; j < end && !safe; ++j)
        safe = std::all_of(one.changes.begin(), one.changes.end(),
                           [&](name_change const& c) { return c.directory == events_[j].synced_directory; });
      if (!safe) open.push_back(i);
    }
    return open;
  }

  state after(std::size_t end, std::set<std::size_t> const& lost) const {
    state left;
    for (std::size_t i = 0; i < end; ++i) {
      event const& one = events_[i];
      if (one.synced_file != none) left.content[one.synced_file] = one.content;
      if (lost.contains(i)) continue;
      for (name_change const& c : one.changes) {
        if (c.child == none) left.names[c.directory].erase(c.name);
        else left.names[c.directory][c.name] = c.child;
      }
    }
    return left;
  }

  std::string text_of(state const& of, std::size_t at) const {
    node const& here = nodes_[at];
    if (!here.target.empty()) return "->" + here.target;
    if (!here.directory) return "=" + (of.content.contains(at) ? of.content.at(at) : "");
    std::string text = "{";
    if (of.names.contains(at))
      for (auto const& [name, child] : of.names.at(at)) text += name + text_of(of, child) + ";";
    return text + "}";
  }

  void make(state const& of, std::size_t at, std::filesystem::path const& path) const {
    node const& here = nodes_[at];
    if (!here.target.empty()) return std::filesystem::create_symlink(here.target, path);
    if (!here.directory) {
      std::ofstream(path, std::ios::binary) << (of.content.contains(at) ? of.content.at(at) : "");
      return;
    }
    std::filesystem::create_directory(path);
    if (of.names.contains(at))
      for (auto const& [name, child] : of.names.at(at)) make(of, child, path / name);
  }

  redco::safetensors::posix_file_ops disk_;
  std::filesystem::path root_;
  bool swaps_;
  std::vector<node> nodes_;
  std::map<std::size_t, std::map<std::string, std::size_t>> names_;
  std::map<int, std::size_t> open_;
  std::vector<event> events_;
};

}  // namespace ckpt_test
