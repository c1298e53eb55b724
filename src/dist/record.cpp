#include "base/text.hpp"
#include "dist/metadata.hpp"

#include <array>
#include <fmt/format.h>

namespace quarry::dist {

namespace {

/// One more than the entries a wheel may have; each row costs about 150 bytes of memory, however short its line.
constexpr std::size_t k_rows_max = 1'000'001;

/// RECORD as the excel dialect of Python's csv module reads it: fields between commas, a field that starts with a quote
/// ends at the next lone quote, two quotes inside it are one. What that module forgives and others do not is an error.
class RecordReader {
public:
  explicit RecordReader(std::string_view text) : rest_(text) {}

  Result<std::vector<RecordRow>> read() {
    if (rest_.size() > k_record_bytes_max) return error("it is larger than 512 MiB");
    if (rest_.find('\0') != rest_.npos) return error("it holds a NUL byte");
    if (!text::is_valid_utf8(rest_)) return error("it is not UTF-8");
    std::vector<RecordRow> rows;
    for (; !rest_.empty(); ++line_) {
      if (rows.size() == k_rows_max) return error(fmt::format("it has more than {} rows", k_rows_max));
      TRY(auto row, read_row());
      rows.push_back(std::move(row));
    }
    return rows;
  }

private:
  Result<RecordRow> read_row() {
    std::array<std::string, 3> fields;
    for (std::size_t i = 0;; ++i) {
      if (i == fields.size()) return error("a row has three fields");
      TRY_DO(read_field(fields[i]));
      if (take(",")) continue;
      if (i + 1 != fields.size()) return error("a row has three fields");
      break;
    }
    if (!rest_.empty() && !take("\r\n") && !take("\n"))
      return error("a carriage return is alone, or text follows a closing quote");
    return make_row(fields);
  }

  Result<void> read_field(std::string& field) {
    if (take("\"")) return read_quoted(field);
    auto end = std::min(rest_.find_first_of(",\r\n"), rest_.size());
    field = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return {};
  }

  Result<void> read_quoted(std::string& field) {
    for (;;) {
      auto quote = rest_.find('"');
      if (quote == rest_.npos) return error("a quote is not closed");
      field += rest_.substr(0, quote);
      rest_.remove_prefix(quote + 1);
      if (!take("\"")) return {};
      field += '"';
    }
  }

  Result<RecordRow> make_row(std::array<std::string, 3>& fields) {
    RecordRow row;
    row.path = std::move(fields[0]);
    if (row.path.empty()) return error("a row has no path");
    if (!fields[1].empty()) {
      auto equals = fields[1].find('=');
      if (equals == fields[1].npos) return error("a hash is written as algorithm=digest");
      row.algorithm = fields[1].substr(0, equals);
      row.raw_digest = fields[1].substr(equals + 1);
      if (row.algorithm == "sha256") row.sha256 = Sha256::from_base64url(row.raw_digest);
    }
    if (!fields[2].empty()) {
      row.size = text::parse_u64(fields[2]);
      if (!row.size) return error(fmt::format("{:?} is not a size", std::string_view(fields[2]).substr(0, 40)));
    }
    return row;
  }

  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  Unexpected error(std::string_view why) const {
    return fail(ErrorKind::corrupt, "M008", fmt::format("RECORD: row {}: {}", line_, why), "build the wheel again");
  }

  std::string_view rest_;
  std::size_t line_ = 1;
};

std::string quoted(const std::string& field) {
  if (field.find_first_of(",\"\r\n") == field.npos) return field;
  return "\"" + text::replace_all(field, "\"", "\"\"") + "\"";
}

std::string digest_field(const RecordRow& row) {
  if (row.sha256) return "sha256=" + row.sha256->base64url();
  return row.algorithm.empty() ? "" : row.algorithm + "=" + row.raw_digest;
}

} // namespace

Result<std::vector<RecordRow>> parse_record(std::string_view text) { return RecordReader(text).read(); }

std::string render_record(const std::vector<RecordRow>& rows) {
  std::string out;
  for (const auto& row : rows) {
    out += quoted(row.path) + "," + quoted(digest_field(row)) + ",";
    if (row.size) out += std::to_string(*row.size);
    out += '\n';
  }
  return out;
}

} // namespace quarry::dist
