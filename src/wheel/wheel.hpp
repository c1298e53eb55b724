#pragma once
// Wheels: built from ropes with RECORD, verified strictly when read (docs/formats/wheel.md lists what is refused).
#include "base/finding.hpp"
#include "base/result.hpp"
#include "content/rope.hpp"
#include "dist/metadata.hpp"
#include "dist/name.hpp"
#include "zip/reader.hpp"
#include "zip/writer.hpp"
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace quarry::wheel {

struct Member {
  std::string path;
  content::Rope data;
  bool executable = false;
};

struct WheelSpec {
  dist::Metadata metadata; ///< name and version also make the file name
  dist::WheelTags tags;
  std::string build; ///< build tag or empty
  bool root_is_purelib = false;
  std::vector<Member> members; ///< any order; everything outside dist-info
  std::vector<dist::EntryPoint> entry_points;
  std::vector<Member> dist_info; ///< more files below dist-info, paths relative to it: licenses/…, sboms/…
};

/// The name that pack() gives it; invalid_argument M001, M004 for an invalid project or version.
Result<std::string> file_name_of(const WheelSpec& spec);

class Prover;

struct PackOptions {
  codec::Profile profile = codec::Profile::release;
  unsigned workers = 1;
  std::function<void(std::uint64_t)> on_progress;
  std::shared_ptr<const Prover> prover = {}; ///< leaves a proof beside the wheel (wheel/proof.hpp); null: none
};

struct Built {
  std::string file_name, path;
  std::uint64_t size = 0, input_bytes = 0;
  std::size_t file_count = 0;
  Sha256 sha256, metadata_sha256;
};

/// Writes `{output_dir}/{file name}` atomically: members sorted bytewise, dist-info last, RECORD the very last. An
/// existing file is replaced. invalid_argument W0xx for members that no wheel may hold, found before a byte is written.
/// Before the file gets its name it is read back: its framing by the strict reader, dist-info byte by byte. The
/// members' bytes are not inflated again: verify() does that, in a fifth of the time that packing took, and everyone
/// who reads a wheel calls it.
Result<Built> pack(const WheelSpec& spec, const std::string& output_dir, const PackOptions& options);

/// What pack() would pack, as a directory that appears complete or not at all; pack_tree() takes it. already_exists
/// W015.
Result<void> write_tree(const WheelSpec& spec, const std::string& directory, const PackOptions& options);

/// A wheel that is written and has no name yet. Destroyed without finish(), nothing stays.
class Packed {
public:
  Packed(Packed&&) noexcept;
  Packed& operator=(Packed&&) noexcept;
  ~Packed();
  /// Digests it, reads it back, syncs it, names it. Reads and waits for the disk: who packs several wheels lets it run
  /// on a thread of its own.
  Result<Built> finish() &&;

  struct State;
  explicit Packed(std::unique_ptr<State> state);

private:
  std::unique_ptr<State> state_;
};

/// The first half of pack(): the deflating one.
Result<Packed> begin_pack(const WheelSpec& spec, const std::string& output_dir, const PackOptions& options);

/// pack() for an unpacked wheel, as `python -m wheel pack` does it: METADATA and WHEEL are taken as they are, the
/// file name comes from the dist-info directory and from WHEEL's Tag and Build, RECORD is made anew. Links and special
/// files: W013.
Result<Built> pack_tree(const std::string& tree, const std::string& output_dir, const PackOptions& options);

struct VerifyReport {
  Findings findings;
  std::optional<dist::WheelName> name;
  std::optional<dist::Metadata> metadata;
  std::optional<dist::WheelInfo> wheel_info;
  std::vector<dist::EntryPoint> entry_points;
  std::vector<dist::RecordRow> record;
  std::string metadata_text; ///< the exact bytes, for the .metadata sidecar
  std::uint64_t size = 0;
  std::optional<Sha256> sha256;  ///< of the wheel file, if it was asked for
  bool container_broken = false; ///< exit 6 rather than 1: the archive or RECORD
  bool unread = false;           ///< what findings cannot say: a part cannot be read, or RECORD has too many defects
};

/// Sees what verify() inflates, so that a wheel is read once. Calls for one member come in order from one thread; calls
/// for other members may come from other threads at the same time.
class Observer {
public:
  virtual ~Observer() = default;
  virtual void begin(const zip::Reader& zip) = 0; ///< before the first member; `zip` stays until verify() returns
  /// Bytes of the member with this number in zip.members(); directories have none.
  virtual void feed(std::size_t member, std::span<const std::byte> bytes) = 0;
  virtual Result<void> end(std::size_t member) = 0; ///< all bytes came, and their checksum is right
};

/// Everything: container Z1-Z15, RECORD against the inflated bytes, dist-info W1-W13. One pass over the bytes.
/// `workers` threads inflate. invalid_argument W022 for a file whose name does not end in .whl: it is not read.
Result<VerifyReport> verify(const std::string& path, unsigned workers = 1);
/// How to verify a wheel.
struct VerifyOptions {
  unsigned workers = 1;
  Observer* observer = nullptr; ///< sees nothing of a broken container, else all files; an error of end() ends verify()
  bool digest = true; ///< VerifyReport::sha256: one more pass over the packed bytes, which verifies nothing by itself
};
/// The same for a wheel whose bytes are anywhere; they are read at several places at once. `path` is what messages call
/// it; it ends in the file name.
Result<VerifyReport> verify(const content::Rope& bytes, const std::string& path, const VerifyOptions& options);
/// The exit code that `wheel verify` and every reader give: 0 sound, 6 broken or ambiguous, 1 other errors.
int exit_code(const VerifyReport& report);
/// Writes the verified members below `{output_dir}/{name}-{version}` and returns that path. The directory appears
/// complete or not at all; already_exists W015 when it is there. Errors of an unsound wheel as require_sound gives
/// them.
Result<std::string> unpack(const std::string& path, const std::string& output_dir, unsigned workers = 1);
/// Errors out (corrupt W010, first findings as details) unless sound; what readers of untrusted wheels call.
Result<VerifyReport> require_sound(const std::string& path, unsigned workers = 1);
Result<VerifyReport> require_sound(const content::Rope& bytes, const std::string& path, unsigned workers = 1);

} // namespace quarry::wheel
