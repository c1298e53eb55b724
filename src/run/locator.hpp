#pragma once
// Where to take something from, as people write it: `run:42-linux`, `set:DIGEST`, `channel:stable`, `file:PATH`, a bare
// path … Parsing is pure: nothing is looked up. docs/formats/run-layout.md has the grammar. Errors: L001 … L009.
#include "base/platform.hpp"
#include "base/result.hpp"
#include <string>
#include <string_view>
#include <vector>

namespace quarry::run {

enum class LocatorKind : std::uint8_t { path, run, set, channel, commit, pull_request, s3, http, release };
std::string_view to_string(LocatorKind kind);

struct Locator {
  LocatorKind kind = LocatorKind::path;
  std::string text;          ///< as the user wrote it, for messages
  std::string path;          ///< path: of a file or directory, never empty
  std::string external_repo; ///< run: "owner-repo/" or empty (then any)
  std::string run_id;        ///< run
  Platform platform;         ///< run; empty: any
  std::string repository;    ///< run (from a pasted URL), pull_request: "owner/repo"
  std::string group;         ///< run: one group of its packages ("gfx94X-dcgpu"), or empty (then all)
  std::string digest;        ///< set: 8 to 64 lower-case hex digits; release: these, or a name
  std::string channel;       ///< channel
  std::string commit;        ///< commit: 7 to 64 lower-case hex digits
  std::string number;        ///< pull_request
  std::string url;           ///< s3, http
};

/// Every form of the locator grammar. A bare word is a path; a pasted GitHub run or job URL is a run. invalid_argument
/// L00x when the text fits no form.
Result<Locator> parse_locator(std::string_view text);

/// Whether the text begins with a word of the grammar for something other than a file (`run:`, `set:`, `https:`), even
/// if the rest fits no form. Looks at nothing.
bool names_no_file(std::string_view text);

/// What a bare word may have been meant as, of the `accepted` kinds: {"run:43"} for "43", {"channel:staging"} for
/// "staging", {"set:0e66efc9cb8b", "channel:0e66efc9cb8b"} for digits of a digest. Empty for anything that has a slash
/// or a scheme, and for other kinds. Looks at nothing.
std::vector<std::string> bare_word_meanings(std::string_view word, const std::vector<LocatorKind>& accepted);
/// "did you mean `channel:staging`?" of those; `otherwise` if there are none.
std::string bare_word_hint(std::string_view word, const std::vector<LocatorKind>& accepted, std::string otherwise);

/// For the places that can use only some kinds: invalid_argument L008 (a place that this command does not reach) or
/// L009 (a kind that makes no sense here), naming the command's `purpose` ("fetch artifacts from") and the kinds it
/// takes.
Result<void> require_kind(const Locator& locator, const std::vector<LocatorKind>& accepted, std::string_view purpose);

/// For commands that take a run as a whole: invalid_argument L009 if the locator names one group of it.
Result<void> refuse_group(const Locator& locator);

/// An `s3://` or local place in a store, as the bucket (or directory) and the key below it.
struct StorePlace {
  std::string store, key;
};
/// "s3://bucket/a/b" -> {"s3://bucket", "a/b"}. invalid_argument L009 for anything but s3.
Result<StorePlace> split_store(const std::string& text);
/// Whether a store's first component is a run's place: "42-linux".
bool is_run_place(const std::string& component);
/// The store and the key of a channel's or run's directory, told by the names that stores give them: what stands before
/// `channels/NAME` or `{run}-{platform}/`. "s3://b/p/channels/stable" -> {"s3://b/p", "channels/stable"}.
/// invalid_argument L009 when no component is one of these.
Result<StorePlace> split_tree(const std::string& text);

} // namespace quarry::run
