#include "tar/tar.hpp"

#include "tar/header.hpp"
#include <algorithm>
#include <cstring>
#include <fmt/core.h>

namespace quarry::tar {

namespace {
constexpr std::uint64_t k_extension_bytes_max = 1u << 20; // pax and long-name data; xattrs of one file reach 64 KiB
constexpr std::uint64_t k_trailing_bytes_max = 16u << 20; // zeros after the end: `tar -b` at its largest useful value
// `git archive` writes one. Python reads each by a recursion that ends the program after some 300.
constexpr unsigned k_global_headers_max = 64;

constexpr const char* k_ratio_hint = "if this is meant, raise the bound with `--max-ratio`";

Unexpected broken(std::string_view what) {
  return fail(ErrorKind::corrupt, "T003", std::string(what), "fetch or make the archive again");
}
} // namespace

/// What extension headers say about the next member.
struct Pending {
  std::optional<PaxRecords> pax;
  std::optional<std::string> long_name, long_link;
  bool any() const { return pax || long_name || long_link; }
};

struct Reader::State {
  enum class At : std::uint8_t { header, data, extension, padding, lone_zero, end };

  State(Visitor& v, std::string archive_name, Limits l)
      : visitor(v), name(std::move(archive_name)), limits(l), paths(l) {}

  Visitor& visitor;
  std::string name;
  Limits limits;
  Paths paths;
  At at = At::header;
  std::array<std::byte, k_block> block{};
  std::size_t block_fill = 0;
  std::uint64_t left = 0;    ///< bytes of data or padding still to come
  std::uint64_t padding = 0; ///< after the data
  char extension_type = 0;
  std::string extension;
  Pending pending;
  unsigned global_headers = 0;
  std::uint64_t trailing = 0;
  std::uint64_t position = 0; ///< in the stream, of what comes next
  std::uint64_t framing = 0;  ///< bytes so far that are not data of files

  Result<void> feed(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      switch (at) {
      case At::header:
      case At::lone_zero: TRY_DO(take_block(bytes)); break;
      case At::data:
      case At::extension: TRY_DO(take_data(bytes)); break;
      case At::padding: TRY_DO(take_padding(bytes)); break;
      case At::end: return take_trailing(bytes);
      }
    }
    return {};
  }

  /// `bytes` of the stream that are not data of a file: headers, padding, what extension headers hold.
  Result<void> pass_framing(std::uint64_t bytes) {
    position += bytes;
    framing += bytes;
    if (framing > limits.framing_bytes_max)
      return fail(ErrorKind::corrupt, "T008",
                  fmt::format("the archive has more than {} bytes of headers", limits.framing_bytes_max), k_ratio_hint);
    return check_position(0);
  }
  /// `more` bytes are to come.
  Result<void> check_position(std::uint64_t more) const {
    if (position <= limits.stream_bytes_max && more <= limits.stream_bytes_max - position) return {};
    return fail(ErrorKind::corrupt, "T008",
                fmt::format("the archive unpacks to more than {} bytes", limits.stream_bytes_max), k_ratio_hint);
  }

  Result<void> take_block(std::span<const std::byte>& bytes) {
    auto n = std::min(bytes.size(), k_block - block_fill);
    std::memcpy(block.data() + block_fill, bytes.data(), n);
    block_fill += n;
    bytes = bytes.subspan(n);
    TRY_DO(pass_framing(n));
    if (block_fill < k_block) return {};
    block_fill = 0;
    bool zero = is_zero(block);
    if (zero && pending.any()) return broken("the archive ends after an extension header");
    if (at == At::lone_zero) {
      at = At::end;
      return zero ? Result<void>{} : Result<void>(broken("a lone zero block is between members"));
    }
    if (zero) {
      at = At::lone_zero;
      return {};
    }
    TRY(auto header, parse_header(block));
    return take_header(std::move(header));
  }

  Result<void> take_header(Header header) {
    switch (header.type) {
    case 'x':
    case 'g':
    case 'L':
    case 'K': return begin_extension(header);
    case '0':
    case '\0': return member(std::move(header), Type::file);
    case '1': return member(std::move(header), Type::hardlink);
    case '2': return member(std::move(header), Type::symlink);
    case '5': return member(std::move(header), Type::directory);
    default: break;
    }
    constexpr std::string_view known = "3456S";
    constexpr std::array<std::string_view, 5> names{"a character device", "a block device", "", "a fifo",
                                                    "a sparse file"};
    auto kind = known.find(header.type);
    auto what = kind == known.npos ? fmt::format("of the unknown type {:#04x}", static_cast<unsigned char>(header.type))
                                   : std::string(names.at(kind));
    return fail(ErrorKind::corrupt, "T009", fmt::format("member {:?} is {}", header.name, what),
                "only files, directories and links are taken from an archive");
  }

  Result<void> begin_extension(const Header& header) {
    bool global = header.type == 'g', pax = header.type == 'x';
    if (global && ++global_headers > k_global_headers_max)
      return fail(ErrorKind::corrupt, "T006",
                  fmt::format("more than {} headers speak for all members", k_global_headers_max),
                  "some readers give up on so many: make the archive again");
    bool repeated = pax                  ? pending.pax.has_value()
                    : header.type == 'L' ? pending.long_name.has_value()
                                         : pending.long_link.has_value();
    bool mixed = pending.any() && (global || pax || pending.pax);
    if (repeated || mixed)
      return fail(ErrorKind::corrupt, "T006", "several extension headers contend for one member",
                  "two readers would understand this archive differently: do not use it");
    if (header.size == 0 || header.size > k_extension_bytes_max)
      return fail(ErrorKind::corrupt, "T006", fmt::format("an extension header has {} bytes", header.size),
                  "the archive is hostile or damaged");
    extension_type = header.type;
    extension.clear();
    return expect(At::extension, header.size);
  }

  Result<void> end_extension() {
    if (extension_type == 'x' || extension_type == 'g') {
      TRY(auto records, parse_pax(extension, extension_type == 'g'));
      if (extension_type == 'x') pending.pax = std::move(records);
      return {};
    }
    if (extension.ends_with('\0')) extension.pop_back();
    if (extension.empty() || extension.find('\0') != extension.npos)
      return fail(ErrorKind::corrupt, "T006", "a long name is empty or holds a NUL",
                  "the archive is hostile or damaged");
    (extension_type == 'L' ? pending.long_name : pending.long_link) = std::move(extension);
    return {};
  }

  Result<void> apply_pending(Header& header) {
    auto taken = std::exchange(pending, {});
    if (taken.long_name) header.name = std::move(*taken.long_name);
    if (taken.long_link) header.link = std::move(*taken.long_link);
    if (!taken.pax) return {};
    if (taken.pax->path) header.name = std::move(*taken.pax->path);
    if (taken.pax->link) header.link = std::move(*taken.pax->link);
    if (!taken.pax->size || *taken.pax->size == header.size) return {};
    // A reader that overlooks the record would take file content for headers, unless the header cannot say the size at
    // all.
    if (header.size != 0 || *taken.pax->size < (1ull << 33))
      return fail(ErrorKind::corrupt, "T006", fmt::format("member {:?} has two sizes", header.name),
                  "two readers would understand this archive differently: do not use it");
    header.size = *taken.pax->size;
    return {};
  }

  Result<void> check_shape(const Header& header, Type type) const {
    auto odd = [&](std::string_view why) {
      return fail(ErrorKind::corrupt, "T005", fmt::format("member {:?} {}", header.name, why),
                  "two readers would understand this archive differently: do not use it");
    };
    bool link = type == Type::symlink || type == Type::hardlink;
    if (type != Type::file && header.size != 0) return odd("is not a file and yet has a size");
    if (!link && !header.link.empty()) return odd("is not a link and yet names a target");
    if (type != Type::directory && header.name.ends_with('/')) return odd("is not a directory and yet ends in a slash");
    return {};
  }

  /// A member of the first tars' type is a directory when its name ends in a slash. Python looks at the name in the
  /// header and does not skip the data of a directory; others look at the name that an extension header gives. So
  /// `pax path=ok.txt`, header `ok/` is a file for us, and a directory followed by more members for Python.
  Result<Type> old_type(bool slash_in_header, const std::string& member) const {
    if (slash_in_header == member.ends_with('/')) return slash_in_header ? Type::directory : Type::file;
    return fail(ErrorKind::corrupt, "T005",
                fmt::format("member {:?} is a directory by one of its two names and a file by the other", member),
                "two readers would understand this archive differently: do not use it");
  }

  Result<void> member(Header header, Type type) {
    bool slash_in_header = header.name.ends_with('/');
    TRY_DO(apply_pending(header));
    if (header.type == '\0') {
      TRY(type, old_type(slash_in_header, header.name));
    }
    TRY_DO(check_shape(header, type));
    Member found;
    TRY(found.path, checked_path(header.name));
    found.type = type;
    found.size = header.size;
    found.executable = type == Type::file && (header.mode & 0111) != 0;
    found.link = std::move(header.link);
    found.offset = position;
    if (found.path.empty())
      return type == Type::directory ? Result<void>{}
                                     : Result<void>(fail(ErrorKind::corrupt, "T010",
                                                         "a member is called like the archive's own directory"));
    if (type == Type::hardlink) {
      if (found.link.ends_with('/')) // Python and we read a file's name, GNU tar a directory's
        return fail(
            ErrorKind::corrupt, "T005",
            fmt::format("the hard link {:?} leads to {:?}, which is a directory's name", found.path, found.link),
            "two readers would understand this archive differently: do not use it");
      TRY(found.link, checked_path(found.link));
    }
    TRY_DO(check_position(found.size), "before member " + found.path);
    TRY_DO(paths.add(found.path, type, found.link));
    TRY_DO(visitor.begin(found));
    return expect(At::data, found.size);
  }

  Result<void> expect(At next, std::uint64_t bytes) {
    at = next;
    left = bytes;
    padding = (k_block - bytes % k_block) % k_block;
    return left == 0 ? end_data() : Result<void>{};
  }

  Result<void> take_data(std::span<const std::byte>& bytes) {
    auto part = bytes.first(std::min<std::uint64_t>(bytes.size(), left));
    if (at == At::data)
      TRY_DO(visitor.data(part));
    else
      extension.append(reinterpret_cast<const char*>(part.data()), part.size());
    left -= part.size();
    bytes = bytes.subspan(part.size());
    if (at == At::data)
      position += part.size();
    else
      TRY_DO(pass_framing(part.size()));
    return left == 0 ? end_data() : Result<void>{};
  }

  Result<void> end_data() {
    if (at == At::data)
      TRY_DO(visitor.end());
    else
      TRY_DO(end_extension());
    left = padding;
    at = padding ? At::padding : At::header;
    return {};
  }

  Result<void> take_padding(std::span<const std::byte>& bytes) {
    auto part = bytes.first(std::min<std::uint64_t>(bytes.size(), left));
    if (!is_zero(part)) return broken("bytes hide in the padding between two members");
    left -= part.size();
    bytes = bytes.subspan(part.size());
    if (left == 0) at = At::header;
    return pass_framing(part.size());
  }

  Result<void> take_trailing(std::span<const std::byte> bytes) {
    trailing += bytes.size();
    if (!is_zero(bytes)) return broken("bytes follow the end of the archive");
    if (trailing > k_trailing_bytes_max) return broken("too many zeros follow the end of the archive");
    return pass_framing(bytes.size());
  }
};

Reader::Reader(Visitor& visitor, std::string archive_name, Limits limits)
    : state_(std::make_unique<State>(visitor, std::move(archive_name), limits)) {}
Reader::~Reader() = default;

Result<void> Reader::feed(std::span<const std::byte> bytes) {
  TRY_DO(state_->feed(bytes), "while reading " + state_->name);
  return {};
}

std::uint64_t Reader::data_ahead() const { return state_->at == State::At::data ? state_->left : 0; }

Result<void> Reader::skip(std::uint64_t bytes) {
  auto& s = *state_;
  s.left -= bytes;
  s.position += bytes;
  TRY_DO(s.left == 0 ? s.end_data() : Result<void>{}, "while reading " + s.name);
  return {};
}

const CasePairs& Reader::case_pairs() const { return state_->paths.case_pairs(); }

Result<void> Reader::finish() {
  auto& s = *state_;
  auto close = [&]() -> Result<void> {
    if (s.at != State::At::end) return broken("the archive ends too early: its end marker is missing");
    if (s.trailing % k_block != 0) return broken("the archive does not end at a block boundary");
    return s.paths.check_links();
  };
  TRY_DO(close(), "while reading " + s.name);
  return {};
}

} // namespace quarry::tar
