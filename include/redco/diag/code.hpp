#pragma once

#include <array>
#include <string_view>

namespace redco::diag {

/// A compile-time error message of redco: "redco[CODE]: sentence; cure". The compiler does not
/// print the member `cause`, which is for the documentation page of the error.
struct diagnosis {
  std::string_view code;
  std::string_view sentence;
  std::string_view cause;
  std::string_view cure;
  /// More specific sentences that replace `sentence`. One static_assert uses each of them, with a
  /// cure (advice) of its own.
  std::array<std::string_view, 8> specific_sentences{};
};

/// Table of all compile-time error messages. Each static_assert repeats the text as a string
/// literal, because C++20 requires a literal. A test compares these literals with this table.
inline constexpr diagnosis diagnoses[] = {
    // P: pipeline collate | loss | predict
    {"P001", "loss does not accept what collate returns",
     "The second parameter of the loss function cannot be initialised from a const batch, the result of the collate "
     "function.",
     "write it as loss(auto const& net, Batch const& batch), with the type that collate returns as Batch"},
    {"P002", "predict does not accept what collate returns",
     "The second parameter of the predict function cannot be initialised from a const batch, the result of the collate "
     "function.",
     "write it as predict(auto const& net, Batch const& batch), with the type that collate returns as Batch"},
    {"P003", "loss returns neither a mean, nor terms, nor a scalar",
     "The trainer must know what to sum over micro-batches and ranks, and what to divide it by.",
     "return redco::mean{sum, count}, redco::terms or a scalar tensor"},
    {"P004", "predict does not return one element per example",
     "The predictor joins the results of all batches in the order of the examples, so it must be able to count them.",
     "return a sized range such as std::vector<std::string>, or a tensor whose first dimension counts the examples"},
    {"P005", "a pipeline has a function twice",
     "Two functions for one purpose were piped, for example two losses, or a pipeline was piped to itself.",
     "pipe at most one collate, one loss and one predict"},
    {"P006", "a pipeline lacks a function that is needed here",
     "Training needs collate and loss, predicting needs collate and predict.",
     "add it with | redco::collate(f), | redco::loss(f) or | redco::predict(f)"},
    {"P007", "a function of a pipeline cannot be called as const",
     "All ranks call the functions concurrently, so the functions may not change what they capture.",
     "remove mutable, and keep changing state outside of the function, under a lock or one per rank"},
    {"P008", "collate does not accept the examples",
     "The collate function is called with std::span<Example const> and, if it takes two arguments, with "
     "redco::pipelines::collate_info.",
     "write it as collate(std::span<Example const> examples), with the element type of the data as Example"},
    {"P009", "collate returns nothing", "Loss and predict take the batch that collate returns.",
     "return a batch, any struct of tensors and other members"},
    {"P010", "a network is called with something that is not a tensor",
     "A network reads one tensor. A batch is a struct of the user's, so the loss or predict function picks the tensor.",
     "pass the tensor of the batch that it reads, such as net(batch.ids)"},
    {"P011", "a network is called with an extra argument that is not a context entry",
     "Masks, positions and encoder states reach the layers by their types, which say what a tensor means.",
     "name each value by its entry, such as net(batch.ids, redco::key_mask{batch.mask})"},
    // O: options
    {"O001", "an option has a type that cannot be read from text",
     "A member of an options struct is filled from words of the command line and from JSON. It is a bool, integer, "
     "floating number, string, path, list of strings, mesh, recomputed_blocks, an enumeration with redco::options::choices<>, "
     "or an optional of one of these; a struct with fields() gives its own options.",
     "give the member a type that docs/diagnostics.md names, or leave it out of fields()"},
    // S: sharding of a model over ranks
    {"S001", "the number of heads is not divisible by the mesh width",
     "Attention is cut by whole heads, the same number on every rank.", "choose a width that divides the heads"},
    {"S002", "the key-value heads neither divide the mesh width nor are divided by it",
     "Either each rank holds the same number of key-value heads, or neighbouring ranks share one head.",
     "choose a width that divides the key-value heads or is a multiple of them"},
    {"S003", "a declared split does not divide",
     "A split that the model declares is even: every rank holds the same number of units.",
     "choose a width that divides the units, or do not declare the split"},
    {"S004", "the input of a row-parallel layer is not split",
     "A row-parallel layer multiplies the part of the features that its rank holds, so its input must be split.",
     "put a column-parallel layer before it"},
    {"S005", "a partial value is used as replicated", "Each rank holds only an addend. No rank has the sum yet.",
     "reduce it before this layer"},
    {"S006", "a replicated value enters a column-parallel layer",
     "The gradient of a column-parallel layer's input is a sum over the ranks, and redco::comm::enter reduces it.",
     "put redco::comm::enter before it"},
    {"S007", "the block of a repeat changes the layout",
     "The output of one block is the input of the next, so both must have one layout.",
     "end it in the layout in which it begins"},
    {"S008",
     "two layouts are mixed",
     "The operands have different elements on each rank, one is a sum still pending, or a layer needs features that "
     "other "
     "ranks hold.",
     "convert one of them with enter, reduce or gather first",
     {"this layer needs all features but its input is split", "a residual branch gives another layout than its input",
      "parallel branches give layouts that cannot be added",
      "only a replicated value can enter a column-parallel layer",
      "only a column-parallel layer takes an entered value", "token ids are replicated"}},
    {"S009", "an override matches nothing", "The pattern has a typing error, or its layer no longer exists.",
     "name something that the plan has"},
    {"S010", "the model cannot be cut into so many pipeline stages",
     "A pipeline stage runs at least one block of the model's outermost repeats, and there are at most 64 stages. A "
     "model without blocks, or with its repeat inside a branch such as redco::residual, has one stage. The type in the "
     "message shows the stages and the largest number.",
     "choose at most as many stages as it has blocks"},
    {"S011", "ranks along cp divide sequences that a layer needs whole",
     "The ranks along the mesh axis cp compute parts of the same sequences. Causal and full attention exchange what they "
     "need of the other parts; layers of single tokens need nothing of them. Other layers, such as recurrent ones, compute "
     "whole sequences.",
     "give cp = 1, or a model of layers that declare by_token"},
    // C: memory of a job
    {"C001", "the job does not fit in the memory of a rank",
     "Parameters, gradients, optimizer state, activations and workspace of one rank together exceed the budget.",
     "use a wider mesh, a smaller micro-batch or recomputation"},
    // R: running a job
    {"R001", "a temporary is passed to an object that keeps a reference to it",
     "A pass is read again when backward computes a block a second time, a trainer is read with every prediction, and a "
     "parameter store with every call of its network: each has to outlive the call that it is given to.",
     "name it first, in a variable that outlives its use"},
    // L: layers
    {"L002", "a layer needs a context entry that nobody set",
     "Layers read masks, positions and encoder states from the context, in which each has its type as its name.",
     "pass it after the network's input: net(x, entry{value})"},
    {"L003", "sequence_parallel finds no repeated block in the model",
     "Tokens are split where blocks begin to repeat, and stay split until the model's head.",
     "write redco::layers::split_tokens into the model's net where its tokens are to be split"},
    {"L004", "a layer reads another width than its input has",
     "The features (channels, positions) that one layer gives are those that the next one reads; branches that are "
     "added "
     "have one shape, and a repeated block gives what it reads. The types in the message name both layers by the "
     "characters "
     "of their paths, with both extents; a giver without a path is the model's input.",
     "make what one layer gives and the next one reads equal"},
    {"L005", "a layer reads another number of dimensions than its input has",
     "Embeddings read [batch, ids], attention [batch, tokens, features], convolutions and pooling [batch, channels, "
     "height, "
     "width]. A model that does not state its input is planned for token ids or one row of features per example.",
     "state the model's input with model_of<net, input<...>> or a member input(workload)"},
    {"L006", "a size of a layer is below one",
     "Widths, heads, kernels and numbers of blocks are at least one. The types in the message name the layer and its "
     "size.",
     "give it at least one"},
    {"L007", "a layer does not declare what it is made of",
     "Layer trees are walked and rewritten (keep_replicated, sequence_parallel, transform), so a layer that holds others "
     "names them and says how it is made of others in their places: using subs = redco::layers::parts<redco::layers::part<\"\", Body>>; "
     "template <class Other> using rebind = my<Other>;. A layer that holds none is a leaf.",
     "give it subs and rebind, or redco::layers::leaf_tag as its layer_concept where it is made of no other layers"},
    {"L008", "an attention is given a trait twice, or a type that is no trait of it",
     "Named traits in any order describe an attention besides its width and heads: redco::key_value_heads, "
     "head_dim, biased, attention_dropout, query_deviation, output_deviation, query_key_norm, rotary, sliding_window, sparse_causal, sliding_band, attention_sinks, unscaled, distance_biased, or a type of "
     "your own with a trait_name and a function apply. Cross-attention takes neither query_key_norm nor rotary nor sinks, "
     "and only causal attention takes a pattern of blocks (sparse_causal or sliding_band).",
     "give each trait at most once"},
    {"L009", "a size of a layer is not a multiple of another size",
     "Attention gives each head the same number of features, grouped-query attention each key-value head the same number of "
     "heads, group normalisation each group the same number of channels, a router each group the same number of experts; rotary positions turn features by pairs, the global blocks "
     "of all patterns fill a window of sparse attention, and patches cover an image. The types in the message name the layer, the size and its divisor.",
     "make it a multiple"},
    {"L010", "a layer is nested too deeply",
     "The path of a layer or parameter is kept in 80 characters, the blocks around it in six levels. The types in the message "
     "name the layer and what it has: characters or repeats.",
     "keep its path within 80 characters and nest at most six repeats"},
    {"L011", "a rewrite names blocks that the model does not have",
     "transform_blocks rewrites a range of the blocks of a repeat, which it finds by its path. The range has at least one block, "
     "and neither begins nor ends after the last one; the types in the message name the repeat and its number of blocks.",
     "name a repeat by its path, such as \"h\", and a range of at least one of its blocks"},
    {"L012", "a mixture of experts chooses more than it has, or does not descend",
     "A router chooses at most all experts (redco::layers::top) and at most all groups of them (routing::group_limited). "
     "dispatch::dcca<r> leaves r times the features, at least one and fewer than all. The types in the message name the layer and "
     "the size that is too small: of experts, groups, descended features or features.",
     "choose at most all experts and groups, and an r between 0 and 1"},
};

/// Returns the compile-time error message with this code, such as S003, or an empty message if
/// the code does not exist.
constexpr diagnosis diagnosis_of(std::string_view code) {
  for (diagnosis const& row : diagnoses) {
    if (row.code == code) return row;
  }
  return {};
}

}  // namespace redco::diag
