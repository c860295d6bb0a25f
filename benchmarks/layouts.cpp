// Counts messages and bytes of a step for 11 public models under two ways to split the matrices.
// `compat` follows the rules of the Python original, `dataflow` is our split, as our models state
// it. Each change of layout counts as its cheapest single collective, in ring bytes, forward and
// backward. Prints a Markdown table. Exit code 1 if a legal plan of ours moves more bytes than the
// original's split, or if a number that was computed by hand is not met.

#include "layout_families.hpp"

#include <redco/compat/compat_plan.hpp>
#include <redco/cost/layout_moves.hpp>
#include <redco/shard/plan.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr int tokens = 4096;  // per step
constexpr int number_bytes = 4;

/// Split dimension of every matrix of a family by its path; -1: replicated.
using splits = std::map<std::string, int, std::less<>>;

splits compat_splits(layout_family const& family, int n) {
  std::vector<redco::compat::compat_parameter> parameters;
  for (auto const& leaf : family.tree) parameters.push_back({leaf.path, leaf.shape});
  auto const plan = redco::compat::compat_plan(parameters, n);
  splits all;
  for (std::size_t i = 0; i < plan.size(); ++i) all.emplace(parameters[i].path, plan[i].dim);
  return all;
}

/// The splits that `dataflow` decides for the matrices of a family's blocks. Our matrices are
/// matched to the family's pairs in order: all matrices up to a row-parallel one are the first of a
/// pair. A matrix that the original fuses has as many rows as our separate ones together.
class decided_splits {
 public:
  explicit decided_splits(layout_family const& family) : family_(family) {
    for (redco::fact::parameter_fact const& f : family.ours) {
      if (f.shape.rank != 2) continue;
      if (f.blocks.depth > 0) matrices_.push_back(f);
      if (f.blocks.depth == 0 && f.why == redco::fact::reason::vocabulary) vocabularies_.push_back(f);
    }
    for (layer_stack const& stack : family.stacks)
      for (matrix_names const& pair : stack.pairs) {
        std::vector<redco::fact::parameter_fact> first;
        for (; next().why != redco::fact::reason::row; ++at_) first.push_back(next());
        std::size_t const fused = first.size() / pair.first.size();
        for (std::size_t i = 0; i < pair.first.size(); ++i)
          decide(std::string(pair.first[i]) + "/kernel", {first.data() + i * fused, fused}, family.kernels_out_in);
        decide(std::string(pair.second) + "/kernel", {&next(), 1}, family.kernels_out_in);
        ++at_;
      }
    expect(at_ == matrices_.size(), "all matrices of the blocks");
    std::span<redco::fact::parameter_fact const> const vocabularies(vocabularies_);
    if (!family.embedding.empty()) decide(std::string(family.embedding), vocabularies.first(1), true);
    if (!family.head.empty() && family.head != family.embedding)
      decide(std::string(family.head), vocabularies.subspan(1, 1), false);
  }

  splits const& all() const { return all_; }

 private:
  redco::fact::parameter_fact const& next() const { return matrices_.at(at_); }

  /// Records the split of the matrix at `path`, which holds our matrices `parts`. If `as_ours`, the
  /// original stores it as `[out, in]`, else as `[in, out]`.
  void decide(std::string const& path, std::span<redco::fact::parameter_fact const> parts, bool as_ours) {
    std::int64_t outputs = 0;
    for (redco::fact::parameter_fact const& f : parts) {
      outputs += f.shape[0];
      expect(f.on(redco::shape::axis::tp).dim == parts.front().on(redco::shape::axis::tp).dim,
             path + " in one direction");
    }
    auto const leaf =
        std::find_if(family_.tree.begin(), family_.tree.end(), [&](auto const& l) { return l.path == path; });
    expect(leaf != family_.tree.end() && leaf->shape[as_ours ? 0 : 1] == outputs &&
               leaf->shape[as_ours ? 1 : 0] == parts.front().shape[1],
           path + " as large as ours");
    int const dim = parts.front().on(redco::shape::axis::tp).dim;
    all_[path] = dim < 0 || as_ours ? dim : 1 - dim;
  }

  void expect(bool holds, std::string const& property) const {
    if (!holds) throw std::logic_error(std::string(family_.name) + " and our model of it do not have " + property);
  }

  layout_family const& family_;
  std::vector<redco::fact::parameter_fact> matrices_, vocabularies_;
  std::size_t at_ = 0;
  splits all_;
};

struct family_moves {
  double forward_per_layer = 0;  ///< elements per token and layer of the first stack
  redco::cost::pass_moves step;  ///< elements per token
  bool replicated = false;       ///< true if a matrix of attention or MLP is not split
};

class counter {
 public:
  counter(layout_family const& family, splits const& chosen) : family_(family), chosen_(chosen) {
    for (auto const& leaf : family.tree) shapes_.emplace(leaf.path, leaf.shape);
  }

  family_moves count() const {
    family_moves all;
    double width = 0;
    for (layer_stack const& stack : family_.stacks) {
      redco::cost::pass_moves const layer = moves_of_layer(stack, all.replicated, width);
      if (all.forward_per_layer == 0) all.forward_per_layer = layer.forward.numbers;
      for (int i = 0; i < stack.layers; ++i) all.step += layer;
    }
    if (!family_.embedding.empty())
      all.step += redco::cost::embedding_moves(chosen_.find(family_.embedding)->second, width);
    if (!family_.head.empty()) {
      // an untied head is stored as [width, vocabulary]
      bool const tied = family_.head == family_.embedding;
      int const stored = chosen_.find(family_.head)->second, dim = tied || stored < 0 ? stored : 1 - stored;
      auto const& shape = shapes_.find(family_.head)->second;
      all.step += redco::cost::head_moves(dim, static_cast<double>(shape[tied ? 0 : 1]), width);
    }
    return all;
  }

 private:
  struct dense {
    redco::cost::cut_weight weight;
    double inputs;
  };

  dense of(std::string_view name) const {
    std::string const path = std::string(name) + "/kernel";
    int const split = chosen_.find(path)->second, outputs = family_.kernels_out_in ? 0 : 1;
    auto const& shape = shapes_.find(path)->second;
    auto const cut = split < 0          ? redco::cost::weight_cut::replicated
                     : split == outputs ? redco::cost::weight_cut::outputs
                                        : redco::cost::weight_cut::inputs;
    return {{cut, static_cast<double>(shape[outputs])}, static_cast<double>(shape[1 - outputs])};
  }

  redco::cost::pass_moves moves_of_layer(layer_stack const& stack, bool& replicated, double& width) const {
    redco::cost::pass_moves all;
    for (std::size_t i = 0; i < stack.pairs.size();) {
      std::vector<std::vector<redco::cost::cut_weight>> first;
      std::vector<dense> second;
      std::size_t const begin = i;
      do {
        first.emplace_back();
        for (std::string_view const name : stack.pairs[i].first) first.back().push_back(of(name).weight);
        second.push_back(of(stack.pairs[i].second));
        replicated = replicated || second.back().weight.cut == redco::cost::weight_cut::replicated;
        for (auto const& w : first.back()) replicated = replicated || w.cut == redco::cost::weight_cut::replicated;
      } while (++i < stack.pairs.size() && stack.pairs[i].from == reads::parallel);
      width = second.back().weight.width;
      std::vector<redco::cost::dense_pair> pairs;
      for (std::size_t k = 0; k < first.size(); ++k) pairs.push_back({first[k], second[k].inputs, second[k].weight});
      all += redco::cost::moves_of(pairs, width);
      if (stack.pairs[begin].from == reads::cross) all.backward += encoder_gradient(first.front(), width);
    }
    return all;
  }

  /// Returns the messages for the gradient of the encoder's states, which the key and value
  /// matrices of cross attention read.
  static redco::cost::layout_moves encoder_gradient(std::vector<redco::cost::cut_weight> const& weights, double width) {
    redco::cost::layout_moves m;
    auto const cut = weights.back().cut;
    m.add(cut == redco::cost::weight_cut::outputs ? 2 : cut == redco::cost::weight_cut::inputs ? 1 : 0, width);
    return m;
  }

  layout_family const& family_;
  splits const& chosen_;
  std::map<std::string_view, redco::extents> shapes_;
};

double width_of(layout_family const& family) {
  auto const first = family.stacks.front().pairs.front().first.front();
  for (auto const& leaf : family.tree)
    if (leaf.path.starts_with(first)) return static_cast<double>(leaf.shape[family.kernels_out_in ? 1 : 0]);
  return 0;
}

bool is_legal(layout_family const& family, int n) {
  return redco::shard::first_illegal(family.ours, {.tp = n}) == family.ours.size();
}

std::string cells(family_moves const& m, double width, int n) {
  redco::cost::layout_moves sum = m.step.forward;
  sum += m.step.backward;
  double const bytes = sum.numbers * tokens * number_bytes * (n - 1) / n;
  char text[96];
  std::snprintf(text, sizeof text, "%.4gh | %d | %.1f", m.forward_per_layer / width, sum.calls, bytes / (1 << 20));
  return text;
}

double total(family_moves const& m) { return m.step.forward.numbers + m.step.backward.numbers; }

/// Returns the ring bytes, in MiB, of gradient sums over ranks that hold equal copies of a weight.
double shared_gradients(layout_family const& family, int n) {
  double bytes = 0;
  for (redco::fact::parameter_fact const& f : family.ours) {
    redco::shard::entry const e{f, {.tp = n}};
    int const sharers = e.sharers(redco::shape::axis::tp);
    double const one = static_cast<double>(e.local().count() * f.copies()) * number_bytes;
    if (f.shape.rank == 2) bytes += 2 * one * (sharers - 1) / sharers;
  }
  return bytes / (1 << 20);
}

}  // namespace

int main() {
  std::printf(
      "Per rank of n: forward numbers per token and layer in widths h, times (n - 1) / n; messages and MiB of a step "
      "of\n"
      "%d tokens in f32, embedding and head included, sent in rings.\n\n"
      "| model | n | compat forward | messages | MiB | dataflow forward | messages | MiB | compat / dataflow | |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n",
      tokens);
  bool good = true;
  for (layout_family const& family : layout_families()) {
    double const width = width_of(family);
    bool const must_win = family.name.starts_with("bert") || family.name.starts_with("roberta") ||
                          family.name.starts_with("vit") || family.name.starts_with("gpt2");
    for (int const n : {2, 3, 4, 6, 8, 16}) {
      auto const theirs_splits = compat_splits(family, n), ours_splits = decided_splits(family).all();
      family_moves const theirs = counter(family, theirs_splits).count(), ours = counter(family, ours_splits).count();
      bool const legal = is_legal(family, n);
      std::string note = theirs.replicated ? "replicated by compat" : "";
      if (double const shared = legal ? shared_gradients(family, n) : 0; shared > 0) {
        char text[96];
        std::snprintf(text, sizeof text, "gradients of sharer groups: %.1f MiB more", shared);
        note += (note.empty() ? "" : "; ") + std::string(text);
      }
      std::printf("| %s | %d | %s | %s | ", std::string(family.name).c_str(), n, cells(theirs, width, n).c_str(),
                  legal ? cells(ours, width, n).c_str() : "illegal | | ");
      if (legal && !theirs.replicated) {
        std::printf("%.3f | %s |\n", total(theirs) / total(ours), note.c_str());
        good = good && (must_win ? total(theirs) > total(ours) : total(theirs) >= total(ours));
      } else {
        std::printf("| %s |\n", note.c_str());
      }
      if (family.name == "bert-large" && legal)
        good = good && ours.forward_per_layer == 4 * width && theirs.forward_per_layer == (n == 2 ? 8 : 7) * width;
    }
  }
  if (!good) std::fputs("layouts: a number differs from the number computed by hand\n", stderr);
  return good ? 0 : 1;
}
