#pragma once

// Pairs of generated sentences such as "Anna is helped by Ben in town" and "Ben never helps Anna".
// The order of words decides about the label. The two sentences of a pair often have the same
// words, and the roles of the names depend on active or passive voice.

#include <redco/data/table.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

namespace sentence_pairs {

/// An event: who does what to whom. The members are indices into the lists of words.
struct event {
  std::size_t agent, verb, patient;
};

inline constexpr std::array<char const*, 8> people{"Anna", "Ben", "Carl", "Dora", "Emil", "Fay", "Gus", "Hana"};
inline constexpr std::array<std::array<char const*, 2>, 4> verbs{
    {{"helps", "helped"}, {"visits", "visited"}, {"calls", "called"}, {"teaches", "taught"}}};
inline constexpr std::array<char const*, 3> places{" in town", " at night", " near the river"};

/// A source of random choices that are equal with every standard library.
struct choices {
  std::mt19937_64 words;

  std::size_t below(std::size_t count) { return static_cast<std::size_t>(words() % count); }
  bool one_of(std::size_t count) { return below(count) == 0; }
  std::size_t other(std::size_t than, std::size_t count) { return (than + 1 + below(count - 1)) % count; }
};

/// Returns a sentence in active or passive voice.
inline std::string sentence(event const& e, bool passive, bool never) {
  std::string const agent = people[e.agent], patient = people[e.patient], adverb = never ? "never " : "";
  std::string const verb = adverb + verbs[e.verb][passive];
  return passive ? patient + " is " + verb + " by " + agent : agent + " " + verb + " " + patient;
}

/// Returns true for a fifth of all events. Held-out pairs begin with these events, and pairs to
/// train on never do.
inline bool reserved(event const& e) { return (e.agent + 2 * e.verb + 3 * e.patient) % 5 == 0; }

/// Draws `count` pairs. The label is the relation of the second sentence to the first. The event is
/// the same ("entailment") or denied ("contradiction"), agent and patient change places
/// ("reversal"), or a word is another one ("neutral"). If `graded`, no event is denied. The
/// label is then the number of roles that have the same word in both sentences, 0 to 3.
inline redco::data::table draw(std::size_t count, std::uint64_t seed, bool graded, bool held_out) {
  choices random{std::mt19937_64(2 * seed + held_out)};
  redco::data::table all{.path = "generated", .columns = {"text", "pair", "label"}};
  while (all.rows.size() < count) {
    event first{random.below(people.size()), random.below(verbs.size()), 0};
    first.patient = random.other(first.agent, people.size());
    if (reserved(first) != held_out) continue;
    event second = first;
    // 0: no change, 1: agent and patient change places, 2: another person, 3: another verb
    std::size_t const change = graded ? random.below(3) : std::array{0U, 0U, 0U, 1U, 1U, 2U, 2U, 3U}[random.below(8)];
    if (change == 1) second = {first.patient, first.verb, first.agent};
    std::size_t& person = random.one_of(2) ? second.agent : second.patient;
    if (change == 2) person = random.other(person, people.size());
    if (change == 3 || (graded && random.one_of(2))) second.verb = random.other(second.verb, verbs.size());
    if (second.agent == second.patient) continue;
    bool const never = !graded && random.one_of(2);
    int const same = (second.agent == first.agent) + (second.verb == first.verb) + (second.patient == first.patient);
    std::string const place = random.one_of(6) ? places[random.below(places.size())] : "";
    std::string const text = sentence(first, random.one_of(4), false) + place;
    std::string const relation = same == 3     ? (never ? "contradiction" : "entailment")
                                 : change == 1 ? "reversal"
                                               : "neutral";
    all.rows.push_back({text, sentence(second, random.one_of(4), never), graded ? std::to_string(same) : relation});
    all.lines.push_back(static_cast<std::int64_t>(all.rows.size()));
  }
  return all;
}

/// Draws `count` single sentences in active or passive voice. The label is the name of who does it,
/// one of the two names in the sentence.
inline redco::data::table draw_agents(std::size_t count, std::uint64_t seed, bool held_out) {
  choices random{std::mt19937_64(2 * seed + held_out)};
  redco::data::table all{.path = "generated", .columns = {"text", "label"}};
  while (all.rows.size() < count) {
    event one{random.below(people.size()), random.below(verbs.size()), 0};
    one.patient = random.other(one.agent, people.size());
    if (reserved(one) != held_out) continue;
    std::string const place = random.one_of(3) ? places[random.below(places.size())] : "";
    bool const passive = random.one_of(2), never = random.one_of(3);
    all.rows.push_back({sentence(one, passive, never) + place, people[one.agent]});
    all.lines.push_back(static_cast<std::int64_t>(all.rows.size()));
  }
  return all;
}

}  // namespace sentence_pairs
