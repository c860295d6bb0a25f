#include <redco/data/examples.hpp>
#include <redco/data/prepared_batch.hpp>

#include <memory>
#include <string>

// Every member compiles, for types that copy and for types that only move.
template class redco::data::gathered<std::string>;
template class redco::data::prefetch<int>;
template class redco::data::prefetch<std::unique_ptr<int>>;
