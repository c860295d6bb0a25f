#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <string_view>

namespace redco::optimizer {

/// The elements of a state slot: one for each element of the parameter (`whole`), or one for each
/// row or column of a matrix. A parameter of more dimensions is a stack of matrices, its last two.
enum class slot_form : unsigned char { whole, rows, columns };

/// Returns the dimension of a parameter that a slot lacks, counted from the last one; 0: none.
constexpr int missing_dim(slot_form form) { return form == slot_form::rows ? -1 : form == slot_form::columns ? -2 : 0; }

/// A list of at most four names of an optimizer's state slots, such as the two moments of Adam.
/// Slots have the dtype of the master parameters, and the form `whole` unless they are added with
/// another form.
class slot_list {
 public:
  constexpr slot_list() = default;
  constexpr slot_list(std::initializer_list<std::string_view> names) {
    for (auto const name : names) push_back(name);
  }

  constexpr void push_back(std::string_view name, slot_form form = slot_form::whole) {
    forms_.at(static_cast<std::size_t>(size_)) = form;
    names_.at(static_cast<std::size_t>(size_++)) = name;
  }
  constexpr int size() const { return size_; }
  constexpr slot_form form(int i) const { return forms_[static_cast<std::size_t>(i)]; }
  constexpr std::string_view operator[](int i) const { return names_[static_cast<std::size_t>(i)]; }
  constexpr auto begin() const { return names_.begin(); }
  constexpr auto end() const { return names_.begin() + size_; }

 private:
  std::array<std::string_view, 4> names_{};
  std::array<slot_form, 4> forms_{};
  int size_ = 0;
};

/// Returns the names of an optimizer's state slots (such as the two moments of Adam). Takes the
/// names from the member function slots() of the settings, or from their static member `slots`.
template <class Description>
constexpr slot_list state_slots(Description const& description) requires(
    requires { slot_list(description.slots()); } || requires { std::string_view(*std::begin(Description::slots)); }) {
  if constexpr (requires { slot_list(description.slots()); }) {
    return description.slots();
  } else {
    slot_list result;
    for (std::string_view const name : Description::slots) result.push_back(name);
    return result;
  }
}

/// Returns the names of the state slots of matrices: of hidden matrices, or of all if the optimizer
/// factors them. They are those of other parameters if the settings have no member function
/// matrix_slots().
template <class Description>
constexpr slot_list matrix_slots(Description const& description) {
  if constexpr (requires { slot_list(description.matrix_slots()); }) return description.matrix_slots();
  else return state_slots(description);
}

/// Returns true if the optimizer updates each hidden matrix as a whole. Then ranks that hold parts
/// of the matrix gather it. Returns false if the settings have no member `updates_matrices`.
template <class Description>
constexpr bool updates_matrices(Description const& description) {
  if constexpr (requires { bool(description.updates_matrices); }) return description.updates_matrices;
  else return false;
}

/// Returns true if the state of parameters with two or more dimensions has one number per row and
/// per column, and each update reads sums over the whole parameter. Returns false if the settings
/// have no member `factors_matrices`.
template <class Description>
constexpr bool factors_matrices(Description const& description) {
  if constexpr (requires { bool(description.factors_matrices); }) return description.factors_matrices;
  else return false;
}

/// The demands of an optimizer on which the cost of a run depends.
struct demands {
  int slots = 0;         ///< Number of state slots of a parameter
  int matrix_slots = 0;  ///< Number of state slots of a matrix, without those per row and column
  bool gathers = false;  ///< True if each split hidden matrix is gathered for its update
  bool factors = false;  ///< True if matrices have state per row and per column

  constexpr demands(int of_all) : slots(of_all), matrix_slots(of_all) {}
  constexpr demands(int of_others, int of_matrices, bool whole, bool factored = false)
      : slots(of_others), matrix_slots(of_matrices), gathers(whole), factors(factored) {}

  constexpr int most_slots() const { return slots > matrix_slots ? slots : matrix_slots; }
};

template <class Description>
constexpr demands demands_of(Description const& description) {
  int const slots = state_slots(description).size();
  if (factors_matrices(description)) return {slots, matrix_slots(description).size() - 2, false, true};
  if (!updates_matrices(description)) return slots;
  return {slots, matrix_slots(description).size(), true};
}

}  // namespace redco::optimizer
