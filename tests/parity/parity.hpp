#pragma once

// Compares one folder of reference numbers with one family on one mesh, in f32 and f64. Compared
// are weights loaded and saved again, generated ids, logits, loss, every gradient, and the loss
// after a step of AdamW.

#include <redco/run/trained_network.hpp>
#include <redco/run/training_step.hpp>
#include <redco/generate/beam_search.hpp>
#include <redco/generate/generate.hpp>
#include <redco/nn/cross_entropy.hpp>
#include <redco/nn/network.hpp>
#include <redco/nn/nn.hpp>
#include <redco/ckpt/load_weights.hpp>
#include <redco/ckpt/save_model.hpp>
#include <redco/comm/thread_world.hpp>
#include <redco/tensor/device.hpp>
#include <redco/tensor/kernel_set.hpp>
#include <redco/pretrained/from_config/config_reader.hpp>
#include <redco/pretrained/generation_config.hpp>
#include <redco/shard/plan.hpp>
#include <redco/model/sequence_parallel.hpp>
#include <redco/optimizer/optimizers.hpp>

#include "parity/reference.hpp"
#include "parity/saved_again.hpp"
#include "temporary_folder.hpp"
#include "tested_device.hpp"

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace parity {

using namespace redco;

/// The batch of a family: the way to call the network, and its labels.
enum class task { decoder, encoder_decoder, tokens_to_class, image_to_class, image_to_text };

/// Rows [begin, end) of the batch.
struct share {
  std::int64_t begin, end;
  at::Tensor of(at::Tensor const& x) const { return x.slice(0, begin, end); }
};

inline at::Tensor next_labels(at::Tensor const& labels) {
  at::Tensor const shifted = at::full_like(labels, -100);
  shifted.narrow(1, 0, labels.size(1) - 1).copy_(labels.narrow(1, 1, labels.size(1) - 1));
  return shifted;
}

/// Calls `use(result, labels)` with the network's output for a share of the batch.
template <task Task, class Net, class Use>
auto with_result(Net const& net, tensors const& in, share const& mine, Use&& use) {
  auto const of = [&](char const* name) { return mine.of(in.at(name)); };
  if constexpr (Task == task::decoder) {
    return use(net(of("input_ids"), key_mask{of("attention_mask").to(at::kBool)}), next_labels(of("labels")));
  } else if constexpr (Task == task::encoder_decoder) {
    return use(
        net(of("decoder_input_ids"), encoder_input{of("input_ids")}, encoder_mask{of("attention_mask").to(at::kBool)}),
        of("labels"));
  } else if constexpr (Task == task::image_to_text) {
    return use(net(of("decoder_input_ids"), encoder_input{of("pixel_values")}), of("labels"));
  } else if constexpr (Task == task::tokens_to_class) {
    auto const masked = net.with(key_mask{of("attention_mask").to(at::kBool)});
    if (in.contains("token_type_ids"))
      return use(masked(of("input_ids"), redco::nn::token_type_ids{of("token_type_ids")}), of("labels"));
    return use(masked(of("input_ids")), of("labels"));
  } else {
    return use(net(of("pixel_values").to(net.parameters().front().scalar_type())), of("labels"));
  }
}

inline at::Tensor whole(logits const& x) { return x.tensor(); }
inline at::Tensor whole(at::Tensor const& x) { return x; }

template <task Task, class M>
class check {
 public:
  check(M const& model, folder const& data, mesh const& on) : data_(data) {
    for (dtype const compute : {dtype::f32, dtype::f64})
      if (compute == dtype::f32 || data.fresh.empty()) run(model, on, compute);
  }

 private:
  void run(M const& model, mesh const& on, dtype compute) {
    adamw const optimizer = data_.optimizer();
    pretrained_folder const source(data_.path, {.fresh = data_.fresh});
    safetensors::weights_source const& weights = source.weights();
    save_model_options const as_it_was = source.save_options();
    temporary_folder const saved;
    redco::comm::run_ranks(on, {}, [&](rank_context& rank) {
      redco::run::trained_network<M> state(model, plan_of(model, on), optimizer, compute, 5, rank.rank, {},
                                           tested_device());
      redco::models::stored_table const table = redco::models::stored_table_of(model);
      load_model(weights, table, state.master_parts(), rank);
      save_model(saved.path, table.names, state.master_parts(), rank.world, as_it_was);
      if (!data_.fresh.empty()) return;
      state.store.publish();
      std::int64_t const rows = data_.inputs.at("labels").size(0);
      share const mine{rows * rank.dp_index() / on.dp, rows * (rank.dp_index() + 1) / on.dp};
      constexpr bool generates = Task != task::tokens_to_class && Task != task::image_to_class;
      if constexpr (generates && !redco::models::is_sequence_parallel<M>) check_generation(state, rank);
      check_step(state, optimizer, rank, mine);
    });
    if (!data_.keep.empty())
      std::filesystem::copy(
          saved.path, data_.keep,
          std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
    if (!data_.fresh.empty()) return;
    data_.expect(weights.files->bytes_read() <= bytes_of_files(weights), "bytes of the weights were read twice");
    expect_saved(data_, weights, saved.path, redco::models::stored_table_of(model));
    expect_files(data_, as_it_was, saved.path);
  }

  template <class State>
  void check_step(State& state, adamw const& optimizer, rank_context& rank, share const& mine) {
    pass const in = redco::nn::evaluation_pass(rank).with_examples(mine.begin, mine.end - mine.begin);
    check_logits(state, in, mine);
    for (int step = 0; step < 2; ++step) {
      // Layers declare the tensors that CPU kernels save
      bool const declared = tested_device() == redco::tensors::cpu_device() &&
                            redco::tensors::kernel_set_in_use() == redco::tensors::kernel_set::fastest;
      pass const now = redco::nn::training_pass(rank, 0, 0, {.check_saved = declared})
                           .with_examples(mine.begin, mine.end - mine.begin);
      redco::run::training_step update(state, rank);
      update.add(with_result<Task>(bound_network<M>(state.net, now), data_.inputs, mine,
                                   [](auto const& y, at::Tensor const& labels) { return cross_entropy(y, labels); }));
      redco::run::step_result const done = update.finish(step, 2, false);
      data_.expect_loss(step == 0 ? "loss" : "loss_after_step", done.loss);
      if (step == 0) check_gradients(state, done.weight, optimizer);
    }
  }

  /// Every replica continues all prompts, because the padding of results depends on all of them.
  template <class State>
  void check_generation(State const& state, rank_context& rank) {
    pass const in = redco::nn::evaluation_pass(rank);
    bound_network<M> const net(state.net, in);
    auto const starts = [&](at::Tensor const& sources) {
      return at::full({sources.size(0), 1}, data_.generation_id("decoder_start_token_id"), at::kLong);
    };
    if constexpr (Task == task::image_to_text) {
      at::Tensor const images = data_.expected.at("prompt_pixels");
      check_continuations(net.with(encoder_input{images}), starts(images));
    } else {
      at::Tensor const prompts = data_.expected.at("prompt_ids"),
                       shown = data_.expected.at("prompt_mask").to(at::kBool);
      if constexpr (Task == task::decoder) check_continuations(net.with(key_mask{shown}), prompts);
      else check_continuations(net.with(encoder_input{prompts}, encoder_mask{shown}), starts(prompts));
    }
  }

  template <class Net>
  void check_continuations(Net const& net, at::Tensor const& prompts) {
    std::int64_t const tokens = data_.meta["generation"]["max_new_tokens"].template get<std::int64_t>();
    std::vector<std::int64_t> const ends = data_.end_ids();
    std::int64_t const pad = data_.generation_id("pad_token_id", ends.front());
    std::int64_t const forced = data_.generation_id("forced_eos_token_id", -1);
    data_.expect_ids(
        "greedy",
        generate(net, prompts, {.max_new_tokens = tokens, .stop_ids = ends, .pad = pad, .forced_end = forced}));
    beam_options options{.max_new_tokens = tokens, .stop_ids = ends, .forced_end = forced};
    options.pad = pad != 0 ? pad : ends.front();  // the reference pads so
    for (std::int64_t const results : {1, 4}) {
      options.results = results;
      redco::generation::beam_result const found = beam_search(net, prompts, options);
      data_.expect_ids(results == 1 ? "beam4" : "beam4_all", found.ids);
      data_.expect_scores(results == 1 ? "sequences_scores" : "beam4_all_scores", found.scores);
    }
    if (data_.meta.contains("decodings")) check_decodings(net, prompts, data_.meta["decodings"]);
  }

  /// Checks decoding with settings in the form of a generation_config.json, each with its expected
  /// ids.
  template <class Net>
  void check_decodings(Net const& net, at::Tensor const& prompts, json::json_value const& decodings) {
    for (auto const& [name, settings] : decodings.items()) {
      redco::pretrained::generation_config const config = redco::pretrained::generation_config_of(settings, name);
      if (config.search.beams == 1) {
        data_.expect_ids(name, generate(net, prompts, config.sampling_options(prompts.size(1), 0)));
        continue;
      }
      beam_options search = config.search_options(prompts.size(1), 0);
      search.results = search.beams;
      redco::generation::beam_result const found = beam_search(net, prompts, search);
      data_.expect_ids(name, found.ids);
      data_.expect_scores(name + "_scores", found.scores);
    }
  }

  template <class State>
  void check_logits(State const& state, pass const& in, share const& mine) {
    at::NoGradGuard const no_grad;
    at::Tensor const found = with_result<Task>(bound_network<M>(state.net, in), data_.inputs, mine,
                                               [](auto const& y, at::Tensor const&) { return whole(y); });
    at::Tensor seen;
    if (Task == task::decoder) seen = mine.of(data_.inputs.at("attention_mask")).to(at::kBool);
    data_.expect_logits(redco::tensors::to_cpu(found), mine.of(data_.expected.at("logits")), seen);
  }

  /// Compares this rank's part of every gradient with the reference, whose gradients are stored in
  /// a file like the parameters.
  template <class State>
  void check_gradients(State& state, double weight, adamw const& optimizer) {
    std::int64_t elements = 0, undecided = 0;
    auto const names = redco::models::stored_names_of(state.net->model());
    for (ckpt::state_part const& part : state.master_parts()) {
      redco::nn::stored_parameter const& p = *state.store.find(part.name);
      if (!p.trainable) continue;
      auto const& [row, whole] = recorded_gradient(names, part);
      at::Tensor expected = whole;
      at::Tensor found = redco::tensors::to_cpu(p.gradient / weight);
      if (row.transposed) expected = expected.t();
      while (expected.dim() > found.dim()) expected = expected.squeeze(0);
      double const largest = expected.abs().max().template item<double>();
      expected = rows_of(row, expected, part.shape[0]);
      for (std::int64_t d = 0; d < found.dim(); ++d) {
        auto const at = static_cast<std::size_t>(d);
        expected = expected.narrow(d, part.box.offset[at], part.box.shape[at]);
        found = found.narrow(d, 0, part.box.shape[at]);
      }
      data_.expect_gradient(part.name, found, expected, largest);
      elements += found.numel();
      if (state.store.compute() == dtype::f32)
        undecided += step_as_recorded(optimizer, p.master, found, expected, largest);
    }
    data_.expect(100 * undecided <= elements, std::to_string(undecided) + " gradients of " + std::to_string(elements) +
                                                  " are too small to say where a step goes");
    state.store.publish();
  }

  /// Returns the recorded gradient of a whole parameter, with its row in the table of file names.
  /// If files have a tensor for each index of the first dimension, stacks their gradients.
  std::pair<redco::models::stored_name, at::Tensor> recorded_gradient(
      std::vector<redco::models::stored_name> const& names, ckpt::state_part const& part) const {
    redco::models::stored_match const match = find_stored_name(names, part.name);
    if (match.row != nullptr) return {*match.row, data_.expected.at("grad." + match.theirs)};
    std::vector<at::Tensor> all;
    for (std::int64_t i = 0; i < part.shape[0]; ++i)
      all.push_back(data_.expected.at("grad." + find_stored_name(names, part.name + "." + std::to_string(i)).theirs));
    return {{}, at::stack(all)};
  }

  /// Returns the `count` rows of a parameter in the tensor that a file has for several.
  static at::Tensor rows_of(redco::models::stored_name const& row, at::Tensor const& joined, std::int64_t count) {
    if (row.group > 0) return joined.unflatten(0, {-1, row.parts, row.group}).select(1, row.part).flatten(0, 1);
    return joined.narrow(0, row.rows > 0 ? row.first : row.part * count, count);
  }

  /// Corrects elements whose first AdamW step is undecided, and returns their number. This step
  /// depends almost only on the sign of a gradient. Rounding in f32 decides the sign if a gradient
  /// is below a hundred-thousandth of the largest. These elements are stepped by the recorded
  /// gradient instead.
  std::int64_t step_as_recorded(adamw const& optimizer, at::Tensor const& master, at::Tensor const& found,
                                at::Tensor const& expected, double largest) const {
    at::NoGradGuard const no_grad;
    auto const direction = [&](at::Tensor const& g) { return g / (g.abs() + optimizer.eps); };
    at::Tensor const undecided = (expected.abs() < 1e-5 * largest + 1e-7).logical_and(expected != 0);
    at::Tensor part = master;
    for (std::int64_t d = 0; d < found.dim(); ++d) part = part.narrow(d, 0, found.size(d));
    part.add_(((direction(found) - direction(expected)) * undecided).to(part.device()), optimizer.lr.peak);
    return undecided.sum().template item<std::int64_t>();
  }

  folder const& data_;
};

/// Calls `use` with each model type of a family: a family has one or several.
template <class M, class Use>
void with_model(M const& model, Use const& use) {
  use(model);
}
template <class... M, class Use>
void with_model(std::variant<M...> const& model, Use const& use) {
  std::visit(use, model);
}

template <class FromConfig, task Task>
bool register_family() {
  families()[std::string(FromConfig::name)] = [](folder const& data, mesh const& on, form as) {
    redco::pretrained::config_reader c(data.config, "config.json");
    c.find("model_type");
    with_model(FromConfig::read(c), [&]<class M>(M model) {
      if constexpr (requires { model.config.balance; }) model.config.balance = data.meta.value("balance", 0.0);
      if (as == form::plain) {
        check<Task, M>(model, data, on);
      } else {
        check<Task, redco::models::sequence_parallel<M>>({model.config}, data, on);
      }
    });
  };
  return true;
}

}  // namespace parity
