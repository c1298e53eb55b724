#pragma once
// An index of somebody else (PEP 503, 691, 658, 714), read over https: pages, metadata, wheels, each checked against
// what the page promised. Thread-safe for download(); page() and metadata() are for one thread.
#include "base/result.hpp"
#include "index/describe.hpp"
#include "mirror/resolve.hpp"
#include "net/http.hpp"
#include "sys/clock.hpp"
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace quarry::mirror {

/// For records and messages: a query may be a signature.
std::string without_query(const std::string& url);

struct Downloaded {
  std::string path; ///< on this machine
  index::Described described;
};

/// METADATA of a file that the mirror holds already; nullopt when it does not.
using KnownMetadata = std::function<Result<std::optional<std::string>>(const index::PageFile& file)>;

class Upstream final : public Candidates {
public:
  struct Options {
    net::Url index;
    std::string directory; ///< for downloads; the caller removes it
    unsigned workers = 1;  ///< that inflate a wheel
  };
  Upstream(std::shared_ptr<net::Transport> transport, const sys::Clock& clock, Options options, KnownMetadata known)
      : transport_(std::move(transport)), clock_(clock), options_(std::move(options)), known_(std::move(known)) {}

  /// The URLs in the page are absolute. not_found U003; U006 if the answer is not a page.
  Result<const index::IndexPage*> page(const std::string& project) override;
  /// From the mirror, else from the file beside the wheel, else from the wheel. corrupt U007, U008.
  Result<dist::Metadata> metadata(const index::PageFile& file) override;

  /// The wheel, verified: size and sha256 as the page says (corrupt U007), sound (W010), its METADATA the one that was
  /// served beside it (corrupt U008).
  Result<Downloaded> download(const index::PageFile& file, const std::function<void(std::uint64_t)>& on_bytes);

  /// Bytes of wheels that were fetched, including repeated and failed downloads.
  std::uint64_t bytes_fetched() const { return bytes_fetched_; }

private:
  Result<net::Response> get(const std::string& url, std::uint64_t bytes_max, bool page, net::Url* final_url = nullptr);
  Result<std::string> metadata_text(const index::PageFile& file);
  Result<void> fetch_to(const index::PageFile& file, const std::string& path,
                        const std::function<void(std::uint64_t)>& on_bytes);
  /// The file's path on this machine, size and sha256 as the page says. U006, U007.
  Result<std::string> fetch_once(const index::PageFile& file, const std::function<void(std::uint64_t)>& on_bytes);
  Result<std::string> place_for(const index::PageFile& file) const;

  std::shared_ptr<net::Transport> transport_;
  const sys::Clock& clock_;
  Options options_;
  KnownMetadata known_;
  std::map<std::string, index::IndexPage> pages_;
  std::atomic<std::uint64_t> bytes_fetched_ = 0;
  std::map<std::string, std::string> served_; ///< METADATA by file name
};

/// Whether the page says what is needed to prove a file: U006 when it has no sha256.
Result<void> require_provable(const index::PageFile& file);

} // namespace quarry::mirror
