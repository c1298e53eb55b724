#include "index/frame.hpp"

#include "base/text.hpp"
#include "index/pages.hpp"
#include <fmt/format.h>

namespace quarry::index {

namespace {
// On a phone the columns besides the name go below it.
constexpr std::string_view k_style = R"(<style>
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem;overflow-wrap:anywhere}
pre{padding:.75rem 1rem;background:#8882;border-radius:.4rem;white-space:pre-wrap;overflow-wrap:anywhere}
table{border-collapse:collapse;width:100%}
th,td{padding:.35rem 1.2rem .35rem 0;border-bottom:1px solid #8884;text-align:left;vertical-align:top}
td:first-child{overflow-wrap:anywhere}
.n{text-align:right;white-space:nowrap}
code{font-size:.9em}
@media(max-width:44rem){
th{display:none}
td{display:inline-block;border:0;padding:0 .8rem 0 0}
td:first-child{display:block;padding-top:.5rem}
tr{display:block;border-bottom:1px solid #8884;padding-bottom:.5rem}
}
</style>
)";
} // namespace

std::string page_head(std::string_view title) {
  auto shown = text::html_escape(title);
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
      "name=\"pypi:repository-version\" content=\"{}\">\n{}\n<meta name=\"viewport\" "
      "content=\"width=device-width,initial-scale=1\">\n<title>{}</title>\n{}</head>\n<body>\n<h1>{}</h1>\n",
      k_api_version, k_generator_mark, shown, k_style, shown);
}

std::string install_hint(std::string_view tree, std::string_view words) {
  bool above = tree.starts_with("..");
  auto below = above || tree.empty() ? "" : fmt::format("/{}", tree);
  return fmt::format("<pre>pip install --index-url <i>{}</i>{} {}</pre>\n",
                     above ? "ADDRESS_ONE_LEVEL_UP" : "ADDRESS_OF_THIS_PAGE", below, text::html_escape(words));
}

std::string page_end() { return "</body>\n</html>\n"; }

} // namespace quarry::index
