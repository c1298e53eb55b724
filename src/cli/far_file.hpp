#pragma once
// Files that commands look at wherever they are: on this machine, in a bucket, on a web server.
#include "cli/command.hpp"
#include "content/rope.hpp"
#include "store/object_store.hpp"
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace quarry::cli {

/// A file in a store.
struct FarFile {
  std::string file_name;
  std::string place;                         ///< as it is shown: "s3://bucket/v2/x.whl"
  std::unique_ptr<store::ObjectStore> store; ///< that it is read from; counts what is read
  content::Rope bytes;                       ///< fetched in ranges as they are read; may outlive `store`
};

/// `s3://BUCKET/KEY` or `https://HOST/PATH`. Fails with W017 if no file is named, with R001 if the file does not exist,
/// and as opening a store and its objects does. One request.
Result<FarFile> open_far_file(const Context& context, const std::string& place);
/// The file that `key` is in a store.
Result<FarFile> open_in_store(const Context& context, const std::string& store, const std::string& key);

/// What a help text says of an operand.
constexpr const char* k_wheel_help = "a file, `s3://BUCKET/KEY` or `https://HOST/PATH`";
constexpr const char* k_wheels_help = "a file, `s3://BUCKET/KEY`, `https://HOST/PATH`, a directory with wheels, or "
                                      "`set:DIGEST`, `run:ID`, `channel:NAME` in the store";

/// An operand: `place` is what it is called, `file:` is taken off a path.
struct FileOperand {
  std::string place;
  std::optional<content::Rope> far; ///< of a file in a bucket or on a web server; else `place` is a path
};
/// Fails as open_far_file() and, for `file:`, as run::parse_locator() does. A path is not looked at.
Result<FileOperand> file_operand(const Context& context, const std::string& operand);

/// All bytes of a far file, in a file without a name on this machine: for what reads all of them, in any order.
/// `fetched` hears the total so far. Fails as reading does (K022: it was replaced meanwhile) and with D00x.
Result<content::Rope> fetched_whole(const Context& context, const content::Rope& far,
                                    const std::function<void(std::uint64_t)>& fetched);

} // namespace quarry::cli
