#include "wheel/member_digest.hpp"

#include "base/text.hpp"
#include "thread/guard.hpp"
#include "thread/pool.hpp"
#include <array>
#include <memory>
#include <openssl/evp.h>
#include <optional>
#include <thread>
#include <variant>
#include <vector>

namespace quarry::wheel {

namespace {

constexpr std::uint64_t k_own_thread_from = 16u << 20; // below, starting a thread costs more than it saves
constexpr std::size_t k_buffers = 4; // of one chunk (1 MiB) each: one is inflated into, the others are digested

const EVP_MD* evp_of(std::string_view algorithm) {
  if (algorithm == "sha256") return EVP_sha256();
  if (algorithm == "sha384") return EVP_sha384();
  return algorithm == "sha512" ? EVP_sha512() : nullptr;
}

class Digest {
public:
  explicit Digest(std::string_view algorithm) { EVP_DigestInit_ex(context_.get(), evp_of(algorithm), nullptr); }
  void update(std::span<const std::byte> bytes) { EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()); }
  std::string finish() {
    std::array<std::uint8_t, EVP_MAX_MD_SIZE> bytes{};
    unsigned size = 0;
    EVP_DigestFinal_ex(context_.get(), bytes.data(), &size);
    return text::base64url(std::span(bytes).first(size));
  }

private:
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context_{EVP_MD_CTX_new(), EVP_MD_CTX_free};
};

// Digests chunks that stay where they are, while the decoder fills the next buffer.
class Lane {
public:
  explicit Lane(Digest& digest) {
    for (std::size_t i = 0; i + 1 < k_buffers; ++i) free_.push({});
    thread_ = std::jthread([this, &digest] { run(digest); });
  }
  ~Lane() { join(); }
  Result<void> update(std::span<const std::byte> bytes) {
    if (!free_.pop()) return finish(); // the thread has stopped, and says why
    full_.push(bytes);
    return {};
  }
  /// Waits until all chunks are digested. Fails as the thread did.
  Result<void> finish() {
    join();
    if (failure_) return fail(*failure_);
    return {};
  }

private:
  void run(Digest& digest) {
    auto done = guarded([&]() -> Result<void> {
      while (auto chunk = full_.pop()) {
        digest.update(*chunk);
        free_.push({});
      }
      return {};
    });
    if (!done) failure_ = std::move(done).error();
    free_.close(); // nobody waits for a thread that has ended
  }
  void join() {
    full_.close();
    if (thread_.joinable()) thread_.join();
  }

  BoundedQueue<std::monostate> free_{k_buffers}; ///< one for each buffer that may be filled, but for one
  BoundedQueue<std::span<const std::byte>> full_{k_buffers};
  std::optional<Error> failure_; ///< read once the thread is joined
  std::jthread thread_;
};

} // namespace

bool is_strong_digest(std::string_view algorithm) { return evp_of(algorithm) != nullptr; }

Result<std::string> digest_member(const zip::Reader& zip, const zip::Member& member, const Digesting& how) {
  Digest digest(how.algorithm);
  if (!how.own_thread || member.size < k_own_thread_from) {
    TRY_DO(zip.read(member,
                    [&](std::span<const std::byte> chunk) -> Result<void> {
                      digest.update(chunk);
                      if (how.see) how.see(chunk);
                      return {};
                    },
                    {how.cuts}));
    return digest.finish();
  }
  std::array<std::vector<std::byte>, k_buffers> buffers; // they must live as long as the lane
  Lane lane(digest);
  TRY_DO(zip.read(member,
                  [&](std::span<const std::byte> chunk) -> Result<void> {
                    TRY_DO(lane.update(chunk));
                    if (how.see) how.see(chunk);
                    return {};
                  },
                  {how.cuts, buffers}));
  TRY_DO(lane.finish());
  return digest.finish();
}

} // namespace quarry::wheel
