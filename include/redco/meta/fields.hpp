#pragma once

#include <redco/meta/fixed_string.hpp>
#include <redco/meta/tuple.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

namespace redco::meta {

/// A description of one member of a reflected struct. It holds the member's name (a template
/// argument), a pointer to the member, a sentence about it, and the smallest and largest numbers
/// that the member may hold. It also says where the values of the member must be equal.
template <fixed_string Name, class Class, class Type>
struct field_of {
  using class_type = Class;
  using value_type = Type;

  Type Class::*member;
  std::string_view about;
  /// True if users must set the described member, because its default has no meaning.
  bool required = false;
  /// Smallest number that the described member may hold.
  std::int64_t least = std::numeric_limits<std::int64_t>::min();
  /// Largest number that the described member may hold.
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  /// Title of the section of a program's help text that lists the member, such as "mesh"; empty:
  /// none.
  std::string_view group = {};
  /// True if the value may differ between the processes of a run.
  bool of_process = false;
  /// True if the result of a run depends on the value, so that checkpoints record it.
  bool decides_result = false;

  /// Returns this field with the lower bound `number`. Readers of options reject smaller values.
  /// Example: `field<"epochs">(&options::epochs, "passes over the data").at_least(1)`.
  constexpr field_of at_least(std::int64_t number) const {
    field_of bounded = *this;
    bounded.least = number;
    return bounded;
  }

  /// Returns this field with the upper bound `number`. Readers of options reject larger values.
  /// Example: `field<"dropout">(&options::dropout, "share of zeros").at_least(0).at_most(1)`.
  constexpr field_of at_most(std::int64_t number) const {
    field_of bounded = *this;
    bounded.most = number;
    return bounded;
  }

  /// Returns this field with the title of a section of the program's help text, which then lists
  /// the option. Example: `field<"epochs">(&options::epochs, "passes over the
  /// data").in_group("training")`.
  constexpr field_of in_group(std::string_view title) const {
    field_of grouped = *this;
    grouped.group = title;
    return grouped;
  }

  /// Returns this field with `of_process` set: the processes of a run need not agree on the value.
  constexpr field_of per_process() const {
    field_of own = *this;
    own.of_process = true;
    return own;
  }

  /// Returns this field with `decides_result` set: checkpoints record the value, and resuming with
  /// another value is reported.
  constexpr field_of recorded() const {
    field_of kept = *this;
    kept.decides_result = true;
    return kept;
  }

  static constexpr std::string_view name() { return Name.view(); }
};

}  // namespace redco::meta

namespace redco {

/// Returns a field, which describes a member of a struct by its name and a sentence, `about`, for
/// the text of --help. Example: `field<"epochs">(&options::epochs, "passes over the training
/// data")`.
template <meta::fixed_string Name, class Class, class Type>
constexpr meta::field_of<Name, Class, Type> field(Type Class::*member, std::string_view about = {}) {
  return {member, about};
}

/// Returns a field, which describes a member that users must set, with a sentence `about` it.
/// Example: `required_field<"model">(&options::model, "folder of the model")`.
template <meta::fixed_string Name, class Class, class Type>
constexpr meta::field_of<Name, Class, Type> required_field(Type Class::*member, std::string_view about = {}) {
  return {member, about, true};
}

/// Returns the fields of `list` (descriptions of members) as a tuple, in display order. A reflected
/// struct returns this tuple from its `static constexpr auto fields()`.
template <class... Field>
constexpr meta::hana::basic_tuple<Field...> fields(Field... list) {
  return meta::hana::basic_tuple<Field...>{list...};
}

}  // namespace redco

namespace redco::meta {

/// A struct that describes its members in a function `fields()`, which returns
/// `redco::fields(...)`:
///   struct o {
///     int epochs = 3;
///     static constexpr auto fields() { return redco::fields(redco::field<"epochs">(&o::epochs)); }
///   };
template <class T>
concept reflected = std::is_class_v<std::remove_cvref_t<T>> && requires {
  std::remove_cvref_t<T>::fields();
};

/// Calls f(field, member) for each field of `object`, where `field` has the name and description of
/// a member, and `member` is a reference to it. A member that is itself a reflected struct is
/// passed as a whole; for its fields, call for_each_named again.
template <reflected T, class F>
constexpr void for_each_named(T& object, F&& f) {
  hana::unpack(std::remove_cv_t<T>::fields(), [&](auto const&... field) { (f(field, object.*(field.member)), ...); });
}

template <fixed_string Name, class First, class... Rest>
constexpr auto first_named(First const& first, Rest const&... rest) {
  if constexpr (First::name() == Name.view()) return first;
  else return first_named<Name>(rest...);
}

/// Returns the field with the name `Name` of a reflected struct, for use in a derived struct that
/// offers fewer options:
///
///   struct fewer : opts {
///     static constexpr auto fields() {
///       return redco::fields(redco::meta::field_named<opts, "lr">());
///     }
///   };
template <reflected Struct, fixed_string Name>
constexpr auto field_named() {
  return hana::unpack(Struct::fields(), [](auto const&... all) { return meta::first_named<Name>(all...); });
}

/// Returns a field for `member` with the description of the field `Name` of the reflected struct
/// `Other`. For programs that offer some options of another program:
///
///   field_like<opts, "lr">(&other_opts::lr)
template <reflected Other, fixed_string Name, class Class, class Type>
constexpr field_of<Name, Class, Type> field_like(Type Class::*member) {
  auto const like = field_named<Other, Name>();
  return {member, like.about, like.required, like.least, like.most, like.group, like.of_process, like.decides_result};
}

}  // namespace redco::meta

namespace redco::meta::detail {

template <fixed_string... Name>
constexpr bool is_one_of([[maybe_unused]] std::string_view name) {
  return ((name == Name.view()) || ...);
}

/// Returns the indices of the fields in the tuple whose names are not among `Name`, in ascending
/// order. `Kept` is the number of these fields.
template <std::size_t Kept, fixed_string... Name, class... Field>
constexpr std::array<std::size_t, Kept> kept_fields(hana::basic_tuple<Field...> const&) {
  std::array<std::size_t, Kept> kept{};
  std::size_t at = 0, next = 0;
  auto const look_at = [&](std::string_view name) {
    if (!is_one_of<Name...>(name)) kept[next++] = at;
    ++at;
  };
  (look_at(Field::name()), ...);
  return kept;
}

template <fixed_string Name, class... Field>
constexpr bool is_among(hana::basic_tuple<Field...> const&) {
  return ((Field::name() == Name.view()) || ...);
}

template <class... Field>
constexpr std::size_t count_of(hana::basic_tuple<Field...> const&) {
  return sizeof...(Field);
}

/// A reflected struct that has a field with the name `Name`.
template <class Struct, fixed_string Name>
concept has_field = is_among<Name>(Struct::fields());

}  // namespace redco::meta::detail

namespace redco::meta {

/// Returns the fields of a reflected struct except the fields with the names `Name`, which must
/// exist. For use in a derived struct that offers fewer options:
///
///   struct short_options : my_options {
///     static constexpr auto fields() {
///       return redco::meta::fields_without<my_options, "epochs">();
///     }
///   };
template <reflected Struct, fixed_string... Name>
  requires(detail::has_field<Struct, Name>&&...)
constexpr auto fields_without() {
  constexpr auto all = Struct::fields();
  constexpr std::size_t many = detail::count_of(all) - sizeof...(Name);
  constexpr auto kept = detail::kept_fields<many, Name...>(all);
  return [&]<std::size_t... I>(std::index_sequence<I...>) { return fields(hana::at_c<kept[I]>(all)...); }
  (std::make_index_sequence<many>{});
}

}  // namespace redco::meta
