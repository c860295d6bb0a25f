#pragma once

#include <redco/diag/error.hpp>

#include <cereal/archives/portable_binary.hpp>
#include <cereal/types/array.hpp>
#include <cereal/types/deque.hpp>
#include <cereal/types/map.hpp>
#include <cereal/types/optional.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/tuple.hpp>
#include <cereal/types/utility.hpp>
#include <cereal/types/vector.hpp>

#include <exception>
#include <sstream>
#include <string>
#include <utility>

namespace redco::workdir {

/// Concept of a type that object_bytes() and read_object() accept: cereal can serialize it, or it
/// has a member or function `serialize(archive)`.
template <class Object>
concept storable = cereal::traits::is_output_serializable<Object, cereal::PortableBinaryOutputArchive>::value &&
    cereal::traits::is_input_serializable<Object, cereal::PortableBinaryInputArchive>::value;

/// Converts an object to bytes that read_object() reads on every kind of machine. Requires that
/// cereal can serialize its type, or that it has a member or function `serialize(archive)`.
template <class Object>
std::string object_bytes(Object const& object) {
  std::ostringstream bytes;
  cereal::PortableBinaryOutputArchive archive(bytes);
  archive(object);
  return std::move(bytes).str();
}

/// Sets `object` from bytes that object_bytes() has returned. Throws `error` with exit code 65 if
/// the bytes belong to another type; `object` may then be partly filled. `name`: name of the object
/// in the message.
template <class Object>
void read_object(std::string const& bytes, Object& object, std::string const& name) {
  auto const refuse = [&](std::string const& why) {
    return error(exit_code::data, name + " is not what this program saves under that name: " + why +
                                      ". Resume with the program that saved it, or start anew with --resume none");
  };
  std::istringstream input(bytes);
  try {
    cereal::PortableBinaryInputArchive archive(input);
    archive(object);
  } catch (std::exception const& e) {
    throw refuse(e.what());
  }
  if (input.peek() != std::istringstream::traits_type::eof()) throw refuse("it has more bytes");
}

}  // namespace redco::workdir
