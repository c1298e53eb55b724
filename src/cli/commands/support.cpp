#include "cli/commands.hpp"
#include "cli/families.hpp"
#include "cli/records.hpp"
#include "cli/support_page.hpp"
#include "cli/verdict.hpp"
#include "gate/collect.hpp"
#include "sdk/recipe.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

constexpr std::size_t k_sets_of_a_page = 64; // the newest of a channel, each with a verdict of its own

/// The project that people install, and the Pythons that its packages are for.
Result<SupportRecipe> recipe_of_page(const Context& context, const std::string& named) {
  auto name = "data/recipes/" + named + ".toml";
  auto text = context.resources.read(name);
  if (!text)
    return fail(ErrorKind::not_found, "S009", fmt::format("recipe {} does not exist", named),
                "`quarry config show --origin` lists the recipes of this program");
  TRY(auto recipe, sdk::parse_recipe({*text, name}));
  return SupportRecipe{"rocm", recipe.metadata.requires_python};
}

/// The newest sets that the channel shows, judged by its policy.
Result<std::vector<SupportRow>> rows_of_channel(Context& context, const Arguments& arguments,
                                                const matrix::Families& families, const SupportRecipe& recipe) {
  auto name = arguments.get("--channel");
  TRY(auto store, open_store(context, arguments.get("--store")));
  TRY(auto channel, registry::require_channel(*store, name));
  TRY(auto view, registry::load_view(*store, channel.record.view));
  auto count = std::min(view.sets.size(), k_sets_of_a_page);
  TRY(auto sets,
      registry::load_all_sealed(*store, {view.sets.end() - static_cast<std::ptrdiff_t>(count), view.sets.end()}));
  TRY(auto policy, policy_for(context, arguments, *store, name));
  policy.expectation = {}; // what a release must bring was asked when it came
  TRY(auto input, gate::collect(*store, name, sets, context.clock.now_us()));
  TRY_DO(gate::load_for_policy(*store, policy, input, gate::Derivations::believed));
  context.out.findings(input.notes);
  return support_rows(families, recipe, &input, gate::judge(policy, input));
}

Result<int> run_support(Context& context, const Arguments& arguments) {
  SupportPage page{arguments.get("--channel"), {}};
  if (!page.channel.empty() && !arguments.find("--store"))
    return fail(ErrorKind::invalid_argument, "Q006", fmt::format("channel {} needs a store to look in", page.channel),
                "add `--store file:PATH` or set QUARRY_STORE");
  TRY(auto families, load_families(context, arguments.get("--families-file")));
  TRY(auto recipe, recipe_of_page(context, arguments.get("--recipe")));
  if (page.channel.empty()) {
    page.rows = support_rows(families, recipe, nullptr, {});
  } else {
    TRY(page.rows, rows_of_channel(context, arguments, families, recipe));
  }
  auto text = arguments.get("--format") == "html" ? support_html(page) : support_markdown(page);
  auto output = arguments.get("--output");
  if (output.empty())
    context.out.data(text);
  else
    TRY_DO(sys::write_file(output, text));
  context.out.document(support_json(page));
  return 0;
}

} // namespace

std::vector<Command> support_commands() {
  return {
      {.path = {"support"},
       .summary = "which versions work on which GPU, OS and Python",
       .description =
           "Writes the page that answers what is supported: a row for each project, OS, GPU family and Python, with "
           "the version that a channel shows and what the results in the store say of it. Families of the table "
           "that the channel has no package for are rows, too.\n\n"
           "`tested` means that every suite that the policy requires has passed, lately enough, on exactly these "
           "files; the day is that of the newest result, and the Pythons are those of the results, where the row is "
           "about "
           "more of them. Where the machine had no GPU, or the tests were not to use "
           "one, "
           "the page says `no GPU was present (backend cpu)`. `fails` and `not tested` say why not. Without "
           "`--channel` "
           "the page says what is built, from the families and the recipe alone.",
       .operands = {},
       .flags = {{.name = "--channel", .value = "CHANNEL", .help = "the channel that people install from"},
                 {.name = "--store",
                  .value = "LOCATOR",
                  .help = "the store that the channel is in",
                  .environment = "QUARRY_STORE"},
                 {.name = "--policy",
                  .value = "FILE",
                  .help = "which suites must have passed: a policy file, or the name of a shipped one; a protected "
                          "channel has its own",
                  .fallback = "default"},
                 {.name = "--recipe",
                  .value = "NAME",
                  .help = "the recipe that the packages are made by",
                  .fallback = "rocm-sdk-aug"},
                 families_file_flag(),
                 {.name = "--format",
                  .value = "FORM",
                  .help = "of the page",
                  .choices = {"markdown", "html"},
                  .fallback = "markdown"},
                 {.name = "--output", .value = "FILE", .help = "write the page there", .letter = 'o'}},
       .examples = {{"quarry support --channel stable --store s3://builds --format html -o support.html",
                     "the page for people"},
                    {"quarry support", "what is built"}},
       .exit_codes = {{3, "the channel does not exist"}},
       .schema = "quarry.support/1",
       .run = run_support}};
}

} // namespace quarry::cli
