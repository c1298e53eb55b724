#include "inspect/values.hpp"

#include "base/text.hpp"
#include "dist/requirement.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::inspect {

namespace {
constexpr std::size_t k_shown_max = 160; // of one side, in one line

class Collector {
public:
  explicit Collector(Values& into) : into_(into) {}
  void one(const std::string& name, const std::string& value) {
    if (!value.empty()) into_[name] = {value};
  }
  void many(const std::string& name, std::vector<std::string> values) {
    if (values.empty()) return;
    std::sort(values.begin(), values.end());
    into_[name] = std::move(values);
  }

private:
  Values& into_;
};

/// "x==1; extra == \"y\"" for `X == 1 ; extra == 'y'`: what two tools write differently and mean alike.
std::string as_it_is_meant(const std::string& requirement) {
  auto parsed = dist::Requirement::parse(requirement);
  if (!parsed) return requirement;
  auto text = parsed->project.str();
  if (!parsed->extras.empty()) text += "[" + text::join(parsed->extras, ",") + "]";
  if (!parsed->url.empty()) text += " @ " + parsed->url + (parsed->marker.str().empty() ? "" : " ");
  text += text::replace_all(parsed->specifier_text, " ", "");
  auto marker = text::join(text::split_any(text::replace_all(parsed->marker.str(), "'", "\""), " \t\r\n"), " ");
  return marker.empty() ? text : text + "; " + marker;
}

/// A field's name is one in any case (RFC 5322).
std::vector<std::string> in_form(std::vector<std::string> texts, std::string (*form)(const std::string&)) {
  for (auto& text : texts) text = form(text);
  return texts;
}
std::string lowered(const std::string& text) { return text::lower(text); }

void add_metadata(const dist::Metadata& m, Values& into) {
  Collector collect(into);
  collect.one("metadata:Metadata-Version", m.metadata_version);
  collect.one("metadata:Version", m.version);
  collect.one("metadata:Summary", m.summary);
  collect.one("metadata:Requires-Python", m.requires_python);
  collect.one("metadata:License-Expression", m.license_expression);
  collect.one("metadata:Author", m.author);
  collect.one("metadata:Author-email", m.author_email);
  collect.one("metadata:Home-page", m.home_page);
  collect.one("metadata:Description-Content-Type", m.description_content_type);
  collect.one("metadata:Description", m.description);
  collect.many("metadata:License-File", m.license_files);
  collect.many("metadata:Requires-Dist", in_form(m.requires_dist, as_it_is_meant));
  collect.many("metadata:Provides-Extra", m.provides_extra);
  collect.many("metadata:Classifier", m.classifiers);
  collect.many("metadata:Dynamic", in_form(m.dynamic, lowered));
  collect.many("metadata:Keywords", m.keywords);
  std::vector<std::string> urls;
  for (const auto& [label, url] : m.project_urls) urls.push_back(label + ", " + url);
  collect.many("metadata:Project-URL", std::move(urls));
  std::map<std::string, std::vector<std::string>> other;
  for (const auto& [name, value] : m.other) other["metadata:" + name].push_back(value);
  for (auto& [name, values] : other) collect.many(name, std::move(values));
}

void add_wheel(const dist::WheelInfo& w, Values& into) {
  Collector collect(into);
  collect.one("wheel:Wheel-Version", w.wheel_version);
  collect.one("wheel:Generator", w.generator);
  collect.one("wheel:Root-Is-Purelib", w.root_is_purelib ? "true" : "false");
  collect.many("wheel:Tag", w.tags);
  collect.one("wheel:Build", w.build);
}

std::string shortened(std::string text) {
  text = text::replace_all(text, "\n", "⏎");
  if (text.size() <= k_shown_max) return text;
  auto end = k_shown_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end; // not inside a character
  return text.substr(0, end) + "…";
}

std::string only_in(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<std::string> out;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out.empty() ? "-" : shortened(text::join(out, "; "));
}
} // namespace

Values values_of(const Package& package) {
  Values values;
  add_metadata(package.metadata, values);
  if (package.kind == dist::DistributionKind::wheel) add_wheel(package.wheel, values);
  for (const auto& point : package.entry_points) {
    auto name = point.group == "console_scripts" ? "script:" + point.name : "entry:" + point.group + ":" + point.name;
    values[name] = {point.module + (point.attribute.empty() ? "" : ":" + point.attribute)};
  }
  return values;
}

std::string summary_of(const std::vector<std::string>& values) { return shortened(text::join(values, "; ")); }

std::string compare_values(const std::vector<std::string>& left, const std::vector<std::string>& right) {
  return only_in(left, right) + " | " + only_in(right, left);
}

} // namespace quarry::inspect
