#include "venv/receipt.hpp"

#include "base/json.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::venv {

namespace {

constexpr const char* k_receipt_schema = "quarry.receipt/1";
constexpr const char* k_lock_schema = "quarry.lock/1";
constexpr std::uint64_t k_receipt_bytes_max = 16u << 20; // 10,000 distributions need 5 MB

std::string_view kind_name(FileKind kind) { return kind == FileKind::wheel ? "wheel" : "sdist"; }

Json file_json(const InstalledFile& file) {
  Json out = {{"project", file.project},      {"version", file.version}, {"filename", file.filename},
              {"sha256", file.sha256.hex()},  {"size", file.size},       {"kind", kind_name(file.kind)},
              {"content", file.content.hex()}};
  if (!file.url.empty()) out["url"] = file.url;
  return out;
}

Unexpected receipt_defect(const std::string& what, std::string_view why) {
  return fail(ErrorKind::corrupt, "V020", fmt::format("{} is not a receipt: {}", what, why),
              "install again with `quarry venv install`");
}

Result<Sha256> digest_at(const Json& object, std::string_view key, const std::string& what) {
  TRY(auto hex, json::string_at({object, what}, key));
  auto digest = Sha256::from_hex(hex);
  if (!digest) return receipt_defect(what, fmt::format("\"{}\" is not a sha256", key));
  return *digest;
}

Result<InstalledFile> read_file_entry(const Json& item, const std::string& what) {
  if (!item.is_object()) return receipt_defect(what, "a file is not an object");
  InstalledFile file;
  TRY(file.project, json::string_at({item, what}, "project"));
  TRY(file.version, json::string_at({item, what}, "version"));
  TRY(file.filename, json::string_at({item, what}, "filename"));
  TRY(file.sha256, digest_at(item, "sha256", what));
  TRY(file.size, json::unsigned_at({item, what}, "size"));
  TRY(file.content, digest_at(item, "content", what));
  TRY(auto kind, json::string_at({item, what}, "kind"));
  if (kind != "wheel" && kind != "sdist") return receipt_defect(what, fmt::format("a file of kind \"{}\"", kind));
  file.kind = kind == "wheel" ? FileKind::wheel : FileKind::sdist;
  file.url = json::string_or(item, "url", "");
  return file;
}

Result<void> read_texts(const Json& object, const char* key, std::vector<std::string>& into, const std::string& what) {
  auto found = object.find(key);
  if (found == object.end()) return {};
  if (!found->is_array()) return receipt_defect(what, fmt::format("\"{}\" is not a list", key));
  for (const auto& item : *found) {
    if (!item.is_string()) return receipt_defect(what, fmt::format("\"{}\" holds something that is not text", key));
    into.push_back(item.get<std::string>());
  }
  return {};
}

Result<registry::ViewDigest> digest_of_view(const std::string& text, const std::string& what) {
  if (text.empty()) return registry::ViewDigest();
  auto view = registry::ViewDigest::parse(text);
  if (!view) return receipt_defect(what, fmt::format("\"view\" is {}, which is not a digest", text));
  return *view;
}

Result<void> read_lists(const Json& document, Receipt& receipt, const std::string& what) {
  auto files = document.find("files");
  if (files == document.end() || !files->is_array()) return receipt_defect(what, "it lists no files");
  for (const auto& item : *files) {
    TRY(auto file, read_file_entry(item, what));
    receipt.files.push_back(std::move(file));
  }
  auto others = document.find("others");
  if (others == document.end() || !others->is_array()) return {};
  for (const auto& item : *others)
    if (item.is_object())
      receipt.others.push_back({json::string_or(item, "project", ""), json::string_or(item, "version", "")});
  return {};
}

std::string lock_json(const Receipt& receipt) {
  Json lock = {{"schema", k_lock_schema}, {"source", receipt.source}, {"files", Json::array()}};
  for (const auto& file : receipt.files) {
    auto entry = file_json(file);
    entry.erase("content");
    lock["files"].push_back(std::move(entry));
  }
  return json::pretty(lock);
}

} // namespace

std::string to_json(const Receipt& receipt) {
  Json out = {{"schema", k_receipt_schema},
              {"locator", receipt.locator},
              {"source", receipt.source},
              {"sealed", receipt.sealed},
              {"sets", receipt.sets},
              {"packages", receipt.packages},
              {"time", receipt.time},
              {"quarry", receipt.quarry_version},
              {"installer", {{"name", receipt.installer}, {"version", receipt.installer_version}}},
              {"python", receipt.python_version}};
  if (!receipt.store.empty()) out["store"] = receipt.store;
  if (!receipt.view.empty()) out["view"] = receipt.view, out["generation"] = receipt.generation;
  out["files"] = Json::array();
  for (const auto& file : receipt.files) out["files"].push_back(file_json(file));
  out["others"] = Json::array();
  for (const auto& other : receipt.others)
    out["others"].push_back({{"project", other.project}, {"version", other.version}});
  return json::pretty(out);
}

Result<Receipt> parse_receipt(NamedText named) {
  const auto text = named.text;
  const std::string what(named.name);
  auto parsed = json::parse({text, what});
  if (!parsed || !parsed->is_object()) return receipt_defect(what, "it is not a JSON object");
  const auto& document = *parsed;
  TRY_DO(json::require_schema({document, what}, k_receipt_schema));
  Receipt receipt;
  receipt.locator = json::string_or(document, "locator", "");
  TRY(receipt.source, json::string_at({document, what}, "source"));
  receipt.store = json::string_or(document, "store", "");
  TRY(receipt.view, digest_of_view(json::string_or(document, "view", ""), what));
  if (!receipt.view.empty()) {
    TRY(receipt.generation, json::unsigned_at({document, what}, "generation"));
  }
  auto sealed = document.find("sealed");
  if (sealed == document.end() || !sealed->is_boolean())
    return receipt_defect(what, "it does not say whether its source was sealed");
  receipt.sealed = sealed->get<bool>();
  std::vector<std::string> sets;
  TRY_DO(read_texts(document, "sets", sets, what));
  for (const auto& each : sets) {
    auto set = registry::SetDigest::parse(each);
    if (!set) return receipt_defect(what, fmt::format("\"sets\" holds {}, which is not a digest", each));
    receipt.sets.push_back(*set);
  }
  TRY_DO(read_texts(document, "packages", receipt.packages, what));
  TRY_DO(read_lists(document, receipt, what));
  receipt.time = json::string_or(document, "time", "");
  receipt.quarry_version = json::string_or(document, "quarry", "");
  receipt.python_version = json::string_or(document, "python", "");
  if (auto installer = document.find("installer"); installer != document.end() && installer->is_object()) {
    receipt.installer = json::string_or(*installer, "name", "");
    receipt.installer_version = json::string_or(*installer, "version", "");
  }
  return receipt;
}

Result<std::optional<Receipt>> read_receipt(const Environment& environment) {
  auto path = path::join(environment.directory, k_receipt_name);
  if (!sys::exists(path)) return std::optional<Receipt>();
  TRY(auto text, sys::read_file(path, k_receipt_bytes_max));
  TRY(auto receipt, parse_receipt({text, path}));
  return std::optional(std::move(receipt));
}

Result<void> write_receipt(const Environment& environment, const Receipt& receipt) {
  if (!receipt.sealed) TRY_DO(sys::write_file(path::join(environment.directory, k_lock_name), lock_json(receipt)));
  return sys::write_file(path::join(environment.directory, k_receipt_name), to_json(receipt));
}

Result<void> remove_receipt(const Environment& environment) {
  TRY_DO(sys::remove_file(path::join(environment.directory, k_receipt_name)));
  return sys::remove_file(path::join(environment.directory, k_lock_name));
}

} // namespace quarry::venv
