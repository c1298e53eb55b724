#pragma once
// Private to the room.
// What a description and commit titles say about a change, and whether the change has it. Words are matched, sentences
// are not understood: a statement counts as a claim only if it has a known verb and names something. Pure.
#include "workflow/changes.hpp"
#include "workflow/history.hpp"
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::workflow {

constexpr std::size_t k_statements_max = 2'000; ///< of a description; GitHub's bound is 65,536 characters
constexpr std::size_t k_names_max = 64;         ///< of one statement

struct Claim {
  enum class Verb : std::uint8_t { added, removed, changed };
  Verb verb = Verb::changed;
  bool certain = false;           ///< the statement begins with its verb: "Add …", "This PR adds …"
  bool unsure = false;            ///< "fixed the `load_so` crash": the name says where it was seen, not what changes
  bool missing = false;           ///< "added missing …": about what existed, not about new files
  std::vector<std::string> names; ///< in back quotes, or words with an underscore; not those that say where
  std::vector<std::string> files; ///< names that end like a file's: where the change is said to be
  std::string from, to;           ///< of "from `a` to `b`", "rename `a` to `b`"; `to` alone: of "`x` is now `b`"
  bool in_words = false;          ///< `from` and `to` may be words of a sentence and no values
  std::string text;               ///< the statement
  std::uint32_t line = 0;         ///< of the description; 0: a commit title
};

/// One claim for each statement (a line, a list item, a sentence) that says what was done. Statements with "not",
/// "will", "should", those about another pull request or commit, and unticked boxes do not count, nor does what stands
/// in a clause: "while preserving `a`", "that `b` needs". Parts of a description about testing, rollout, symptoms and
/// what follows are not read.
std::vector<Claim> read_claims(std::string_view text);

struct Claims {
  std::vector<Claim> claims;
  std::vector<std::uint32_t> not_understood; ///< lines of statements that name something or have a verb, and no claim
};
Claims read_statements(std::string_view text);

/// The words of names and paths: "release_portable_linux_jax_wheels.yml" -> jax, among others.
std::set<std::string> topics_of(std::string_view path);
/// Whether `word` stands in `text` with no letter, digit, dash or underscore beside it. Case does not matter.
bool has_word(std::string_view text, std::string_view word);
/// Part of a name: `python_version` has the topic python.
struct Topic {
  std::string_view word;
};
bool has_word(std::string_view text, Topic topic);

/// Words that are names by their looks: in back quotes, or with an underscore, a dash or a dot inside.
std::vector<std::string> names_in(std::string_view text);
/// Whether a changed path, a changed line or a line near one has the name, or a longer name with it.
bool is_near(const History& history, const std::string& name);

struct Judged {
  std::vector<std::string> holds;  ///< names with a change behind them
  std::vector<std::string> before; ///< names said to be added or set, which the base has already
  std::vector<std::string> nowhere;
  /// Names that stand next to a changed line, and nothing says what was done to them; values in words. Nobody can say.
  std::vector<std::string> unsure = {};
};
Judged judge(const Claim& claim, const Changes& changes, const History& history, const Repository& before);

} // namespace quarry::workflow
