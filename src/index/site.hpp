#pragma once
// Where an index lies, as `index check` sees it: files, objects of a store, or anybody's web server. Reads only.
// Thread-safe.
#include "base/result.hpp"
#include "store/object_store.hpp"
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::index {

/// What a place answers.
struct SiteReply {
  enum class State : std::uint8_t { there, absent, denied } state = State::absent;
  std::string text; ///< of a page
  std::uint64_t size = 0;
  bool has_headers = false; ///< files have none
  std::string content_type, cache_control, content_encoding;
  std::string refusal = {}; ///< of what is denied: "https://… answers with status 403"
  std::string s3_code = {}; ///< of what is denied: the code that an S3 server gave
  int status = 0;           ///< of what is denied, where a web server said so
  bool there() const { return state == State::there; }
};

/// A file on this machine, until it is destroyed.
class LocalFile {
public:
  explicit LocalFile(std::string path) : path_(std::move(path)) {} ///< that is not removed
  /// The file `name` of a directory that is removed with it.
  static LocalFile in_temporary(std::string directory, std::string_view name);
  LocalFile(LocalFile&& other) noexcept;
  LocalFile& operator=(LocalFile&&) = delete;
  ~LocalFile();
  const std::string& path() const { return path_; }

private:
  std::string path_, temporary_;
};

class Site {
public:
  virtual ~Site() = default;
  virtual std::string describe() const = 0;
  /// How messages call the page of a directory: "simple/rocm/index.html".
  virtual std::string place_of(const std::string& directory) const = 0;
  /// The page of a directory below the index ("simple/rocm"; "": its own).
  virtual Result<SiteReply> page(const std::string& directory) = 0;
  /// The same page in its other form, from a server that chooses by Accept.
  virtual Result<std::optional<SiteReply>> as_json(const std::string& directory) {
    static_cast<void>(directory);
    return std::optional<SiteReply>();
  }
  /// The directories below one; nullopt: it cannot be listed, its page must be believed.
  virtual Result<std::optional<std::vector<std::string>>> directories(const std::string& directory) = 0;
  /// What a link on the page of `directory` leads to, as a name for look() and the others; nullopt: elsewhere.
  virtual std::optional<std::string> target(const std::string& directory, const std::string& href) const = 0;
  virtual Result<SiteReply> look(const std::string& target) = 0; ///< without its text
  /// nullopt: it does not exist, or must not be read.
  virtual Result<std::optional<std::string>> read(const std::string& target, std::uint64_t max_bytes) = 0;
  virtual Result<LocalFile> local(const std::string& target) = 0; ///< its bytes, under its own name
  /// The page of a directory under the key that installers ask object storage for, "simple/rocm/"; nullopt: the place
  /// keeps no such copies.
  virtual Result<std::optional<SiteReply>> copy_of(const std::string& directory) {
    static_cast<void>(directory);
    return std::optional<SiteReply>();
  }
  /// What a web server answers for the page's own name, "simple/rocm/index.html"; nullopt: page() asks for that.
  virtual Result<std::optional<SiteReply>> page_by_name(const std::string& directory) {
    static_cast<void>(directory);
    return std::optional<SiteReply>();
  }
  virtual bool is_bucket() const { return false; }
  /// Strangers ask it over the network: what they get for a project that is not there matters.
  virtual bool served() const = 0;
};

std::unique_ptr<Site> files_site(std::string directory);
/// Objects below `directory` (a key, or empty) of a store that can be listed. Links may lead anywhere in the store.
/// `temporary`: where wheels are put for as long as they are looked at.
std::unique_ptr<Site> store_site(std::string directory, std::shared_ptr<store::ObjectStore> store,
                                 std::string temporary);
/// A web server's directory at `url`. Links are followed to other hosts too, as installers do. H001 if `url` is not a
/// URL.
Result<std::unique_ptr<Site>> web_site(const std::string& url, const store::Surroundings& surroundings,
                                       std::string temporary);

// Shared by the sites of this room.
bool leads_elsewhere(std::string_view href);
/// An object's bytes as a file of its own below `temporary`.
Result<LocalFile> fetched(store::ObjectReader& store, const std::string& key, const std::string& temporary);
SiteReply reply_of(const Result<std::optional<store::ObjectInfo>>& found);

} // namespace quarry::index
