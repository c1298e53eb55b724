#include "dist/metadata.hpp"

#include "base/text.hpp"
#include "dist/headers.hpp"
#include "dist/version.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <set>

namespace quarry::dist {

namespace {

const std::string k_metadata_code = "M006";
constexpr std::string_view k_what = "METADATA";

Unexpected metadata_error(std::string_view why) {
  return fail(ErrorKind::corrupt, k_metadata_code, fmt::format("{}: {}", k_what, why),
              "build the distribution again; its metadata cannot be read in one way only");
}

enum class Use : std::uint8_t { once, many };

/// Where a header's value goes. `machine` fields decide what is installed: one line, no encoded words (RFC 2047), since
/// pip reads those as they stand and uv decodes them.
struct Field {
  std::string_view name; // lower case
  Use use;
  bool machine;
  std::string Metadata::* text = nullptr;
  std::vector<std::string> Metadata::* list = nullptr;
};

constexpr std::array k_fields{
    Field{"metadata-version", Use::once, true, &Metadata::metadata_version},
    Field{"name", Use::once, true, &Metadata::name},
    Field{"version", Use::once, true, &Metadata::version},
    Field{"summary", Use::once, false, &Metadata::summary},
    Field{"requires-python", Use::once, true, &Metadata::requires_python},
    Field{"license-expression", Use::once, true, &Metadata::license_expression},
    Field{"license-file", Use::many, true, nullptr, &Metadata::license_files},
    Field{"requires-dist", Use::many, true, nullptr, &Metadata::requires_dist},
    Field{"provides-extra", Use::many, true, nullptr, &Metadata::provides_extra},
    Field{"classifier", Use::many, false, nullptr, &Metadata::classifiers},
    Field{"dynamic", Use::many, true, nullptr, &Metadata::dynamic},
    Field{"author", Use::once, false, &Metadata::author},
    Field{"author-email", Use::once, false, &Metadata::author_email},
    Field{"home-page", Use::once, false, &Metadata::home_page},
    Field{"description-content-type", Use::once, false, &Metadata::description_content_type},
    // Handled by name below; here for their use alone.
    Field{"description", Use::once, false},
    Field{"keywords", Use::once, false},
    Field{"project-url", Use::many, false},
    Field{"download-url", Use::once, false},
    Field{"maintainer", Use::once, false},
    Field{"maintainer-email", Use::once, false},
    Field{"license", Use::once, false},
};

const Field* field_of(const std::string& lower_name) {
  auto it = std::find_if(k_fields.begin(), k_fields.end(), [&](const Field& f) { return f.name == lower_name; });
  return it == k_fields.end() ? nullptr : &*it;
}

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return (c >= 0 && c < ' ' && c != '\t') || c == 0x7f; });
}

std::pair<std::string, std::string> label_and_url(std::string_view value) {
  auto comma = value.find(',');
  if (comma == value.npos) return {"", std::string(text::trim(value))};
  return {std::string(text::trim(value.substr(0, comma))), std::string(text::trim(value.substr(comma + 1)))};
}

std::vector<std::string> comma_list(std::string_view value) {
  std::vector<std::string> out;
  for (const auto& part : text::split(value, ','))
    if (auto word = text::trim(part); !word.empty()) out.emplace_back(word);
  return out;
}

/// A description in a header, as metadata 1.x has it: continuation lines are indented by eight blanks, or seven and a
/// bar.
std::string unindented(std::string_view value) {
  return text::replace_all(text::replace_all(value, "\n        ", "\n"), "\n       |", "\n");
}

class MetadataReader {
public:
  Result<Metadata> read(std::string_view text) {
    if (text.size() > k_metadata_bytes_max) return metadata_error("it is larger than 16 MiB");
    TRY(auto block, parse_headers(text, k_metadata_code, k_what));
    metadata_.metadata_version.clear();
    for (const auto& header : block.headers) TRY_DO(take(header));
    TRY_DO(take_body(block.body));
    TRY_DO(check_required());
    return std::move(metadata_);
  }

private:
  Result<void> take(const Header& header) {
    auto name = text::lower(header.name);
    const auto* field = field_of(name);
    bool first = seen_.insert(name).second;
    if (field && field->use == Use::once && !first) return metadata_error(fmt::format("{} appears twice", header.name));
    if (field && field->machine) TRY_DO(check_machine_value(header));
    if (name == "content-type" || name == "content-transfer-encoding") TRY_DO(check_mime(header));
    store(header, name, field);
    return {};
  }

  static Result<void> check_machine_value(const Header& header) {
    if (header.folded() || has_control(header.value))
      return metadata_error(fmt::format("{} must be one line of plain text", header.name));
    if (header.value.find("=?") != header.value.npos && header.value.find("?=") != header.value.npos)
      return metadata_error(fmt::format("{} holds an encoded word, which some readers decode", header.name));
    return {};
  }

  /// Python's parser would take a multipart body apart, other readers take it as text.
  static Result<void> check_mime(const Header& header) {
    auto value = text::lower(text::trim(header.value));
    if (value.starts_with("multipart/") || value.starts_with("message/") || value == "base64" ||
        value == "quoted-printable")
      return metadata_error(fmt::format("{}: {} changes how the description is read", header.name, value));
    return {};
  }

  void store(const Header& header, const std::string& name, const Field* field) {
    // A blank after a name is kept: pip compares the name with it and refuses, so it must not look right to us.
    std::string value = name == "name" ? header.value : std::string(text::trim(header.value));
    if (field && field->text)
      metadata_.*field->text = std::move(value);
    else if (field && field->list)
      (metadata_.*field->list).push_back(std::move(value));
    else if (name == "project-url")
      metadata_.project_urls.push_back(label_and_url(value));
    else if (name == "keywords")
      metadata_.keywords = comma_list(value);
    else if (name == "description")
      metadata_.description = unindented(header.value);
    else
      metadata_.other.emplace_back(header.name, std::move(value));
  }

  Result<void> take_body(std::string_view body) {
    if (text::trim(body).empty()) return {};
    if (!metadata_.description.empty())
      return metadata_error("the description appears twice, as a header and as the body");
    metadata_.description = std::string(body);
    return {};
  }

  Result<void> check_required() {
    // First what every installer refuses: only one defect is said.
    if (auto name = ProjectName::parse(metadata_.name); !name)
      return metadata_error(fmt::format("Name is {:?}, not a project name", metadata_.name));
    if (auto version = Version::parse(metadata_.version); !version)
      return metadata_error(fmt::format("Version is {:?}, not a version", metadata_.version));
    const auto& mv = metadata_.metadata_version;
    auto dot = mv.find('.');
    auto major = text::parse_u64(mv.substr(0, dot)),
         minor = dot == mv.npos ? std::nullopt : text::parse_u64(mv.substr(dot + 1));
    if (!major || !minor) return metadata_error(fmt::format("Metadata-Version is {:?}, not a number like 2.4", mv));
    if (*major < 1 || *major > 2)
      return metadata_error(fmt::format("Metadata-Version {} is unknown to every installer", mv));
    return {};
  }

  Metadata metadata_;
  std::set<std::string> seen_;
};

/// A line break in a value would start a header of its own.
std::string one_line(std::string_view value) {
  std::string out(value);
  std::replace_if(out.begin(), out.end(), [](char c) { return c == '\n' || c == '\r' || c == '\0'; }, ' ');
  return out;
}

class MetadataWriter {
public:
  void field(std::string_view name, std::string_view value) {
    if (!value.empty()) fmt::format_to(std::back_inserter(out), "{}: {}\n", name, one_line(value));
  }
  void fields(std::string_view name, const std::vector<std::string>& values) {
    for (const auto& value : values) field(name, value);
  }
  std::string out;
};

} // namespace

Result<Metadata> Metadata::parse(std::string_view text) { return MetadataReader().read(text); }

std::string Metadata::render() const {
  MetadataWriter w;
  w.field("Metadata-Version", metadata_version);
  w.field("Name", name);
  w.field("Version", version);
  w.fields("Dynamic", dynamic);
  w.field("Summary", summary);
  w.field("Home-page", home_page);
  w.field("Author", author);
  w.field("Author-email", author_email);
  w.field("License-Expression", license_expression);
  w.fields("License-File", license_files);
  for (const auto& [label, url] : project_urls) { // without a label, a comma in the URL would be taken for its end
    bool bare = label.empty() && url.find(',') == url.npos;
    w.field("Project-URL", bare ? url : label + ", " + url);
  }
  w.field("Keywords", text::join(keywords, ","));
  w.fields("Classifier", classifiers);
  w.field("Requires-Python", requires_python);
  w.fields("Provides-Extra", provides_extra);
  w.fields("Requires-Dist", requires_dist);
  for (const auto& [header, value] : other) w.field(header, value);
  if (description.empty()) return std::move(w.out);
  w.field("Description-Content-Type", description_content_type);
  w.out += "\n" + description;
  if (!description.ends_with('\n')) w.out += '\n';
  return std::move(w.out);
}

} // namespace quarry::dist
