#include "promote/promote.hpp"

#include "base/units.hpp"
#include "cli/commands.hpp"
#include "cli/delivery.hpp"
#include "cli/dry_run.hpp"
#include "cli/keys.hpp"
#include "cli/moves.hpp"
#include "cli/next_command.hpp"
#include "cli/on_move.hpp"
#include "cli/records.hpp"
#include "cli/release_moves.hpp"
#include "cli/shared_flags.hpp"
#include "cli/verdict.hpp"
#include "sys/clock.hpp"
#include "sys/memory.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

// ---- promote

Result<promote::Request> promote_request_of(Context& context, const Arguments& arguments, const Destination& to,
                                            store::ObjectReader& store) {
  TRY(auto policy, policy_for(context, arguments, store, arguments.get("--to")));
  TRY(auto source, source_of(arguments, store));
  return promote::Request{std::move(source.resolved),
                          arguments.get("--to"),
                          std::move(policy),
                          arguments.get("--cells") == "ready",
                          context.clock.now_us(),
                          context.jobs,
                          to.store ? to.locator + " " + to.prefix : std::string(),
                          {},
                          std::move(source.expectations)};
}

/// What a promotion works with.
struct Promotion {
  std::unique_ptr<store::ObjectStore> store;
  Destination to;
  std::unique_ptr<BaseIndex> base; ///< null: none is asked
  promote::Request request = {};   ///< refers to `base`
  promote::Options options;
  bool checked = false;             ///< whether `to` can take what moves: looked at before the move
  release::CopyVerdict copied = {}; ///< on what is copied and does not move
};

/// What is asked for. A dry run of a public bucket goes on without credentials, with another `store`.
Result<void> fill_request(Context& context, const Arguments& arguments, Promotion& promotion) {
  auto& [store, to, base, request, options, checked, copied] = promotion;
  auto asked_for = promote_request_of(context, arguments, to, *store);
  if (!asked_for && options.dry_run && could_not_look(asked_for.error())) {
    // What is to be promoted must be read; of a public bucket nobody needs credentials for that.
    TRY(store, open_unsigned(context, arguments.get("--store")));
    if (auto unsigned_too = promote_request_of(context, arguments, to, *store)) asked_for = std::move(unsigned_too);
  }
  TRY(request, std::move(asked_for));
  if (base) {
    request.base_index = &base->candidates();
    request.base_index_name = base->name();
  }
  TRY(request.pin_from, rules_to_pin(context, arguments, {arguments.get("--store"), options.dry_run}, *store,
                                     {{request.channel, request.source.sets}}));
  return {};
}

/// Before the plan is named: what the other store has there already goes along, so it is part of what is reviewed.
Result<void> look_along(Context& context, Promotion& promotion, promote::Plan& plan) {
  auto& store = *promotion.store;
  TRY(auto sets, release::promoted_sets(store, {promotion.request, plan}));
  promotion.to.found->clear(); // of a round before
  auto looked = check_delivery(context, {store, promotion.to, sets}, promotion.options);
  bool unseen = !looked && promotion.options.dry_run && could_not_look(looked.error()); // deliver() says so
  if (!looked && !unseen) return looked;
  plan.distribution += release::described(*promotion.to.found);
  return {};
}

/// Before the channel moves: whether the other store may take what would move. That it can, look_along() has seen.
Result<void> check_before_the_move(Context& context, Promotion& promotion, const promote::Plan& plan) {
  auto& store = *promotion.store;
  TRY(auto sets, release::promoted_sets(store, {promotion.request, plan}));
  promotion.checked = true;
  TRY(promotion.copied, release::judge_delivery(store, {promotion.request, plan}, promotion.to, sets));
  context.out.findings(promotion.copied.notes);
  TRY_DO(release::accept_copies(store, {promotion.request, plan}, promotion.copied, promotion.options));
  if (!plan.moves()) return check_delivery(context, {store, promotion.to, sets}, promotion.options);
  return release::check_writable({store, promotion.to, sets}, promotion.options.key.has_value());
}

/// Copies to the other store what the channel shows of the source now.
Result<Delivery> deliver_promoted(Context& context, Promotion& promotion, const promote::Receipt& receipt) {
  auto& [store, to, base, request, options, checked, copied] = promotion;
  TRY(auto sets, release::promoted_sets(*store, {request, receipt.plan}));
  if (!checked) { // of a dry run, or of a plan that was executed before
    auto judged = release::judge_delivery(*store, {request, receipt.plan}, to, sets);
    bool unseen = !judged && options.dry_run && could_not_look(judged.error()); // deliver() says so
    if (!judged && !unseen) return fail(std::move(judged).error());
    if (judged) copied = std::move(*judged);
    context.out.findings(copied.notes);
    if (!options.dry_run) {
      TRY_DO(release::accept_copies(*store, {request, receipt.plan}, copied, options));
      TRY_DO(check_delivery(context, {*store, to, sets}, options));
    }
  }
  to.before_showing = [&]() -> Result<void> {
    TRY_DO(release::still_judged(*store, receipt.plan));
    return release::still_judged(*store, copied);
  };
  TRY(auto delivery, deliver(context, *store, to, sets, options));
  context.out.findings(delivery.receipt.notes);
  return delivery;
}

Json document_of_promotion(const Promotion& promotion, const promote::Receipt& receipt,
                           const std::optional<Delivery>& delivery) {
  auto document = receipt_json(receipt, "quarry.promote/1", promotion.options.dry_run);
  document["gate"] = verdict_json(receipt.plan.judgement.verdict);
  document["distribution"] = delivery ? delivery_json(promotion.to, *delivery) : Json(nullptr);
  return document;
}

void note_undo(Context& context, const Arguments& arguments, const promote::Receipt& receipt) {
  if (receipt.moved && receipt.generation > 1) // a first view has nothing before it
    context.out.note(undo_note(context, arguments, receipt.plan.channel));
}

/// The copy after the move. If it fails, people must know that the channel has moved, and so must `--on-move`.
Result<Delivery> copy_promoted(Context& context, const Arguments& arguments, Promotion& promotion,
                               const promote::Receipt& receipt) {
  auto delivery = deliver_promoted(context, promotion, receipt);
  if (delivery || !(receipt.moved || receipt.completed)) return delivery;
  context.out.data(moved_text(receipt));
  note_undo(context, arguments, receipt);
  if (receipt.moved)
    tell_before_error(context, arguments, *promotion.store, {"promote", document_of_promotion(promotion, receipt, {})});
  return fail(not_copied(std::move(delivery).error(), {"channel " + promotion.request.channel}, promotion.to,
                         NextCommand(context, "promote").flags_of(arguments)));
}

/// Says what was done or would be done, and how to go on.
void print_promotion(Context& context, const Arguments& arguments, const Promotion& promotion,
                     const promote::Receipt& receipt, const std::optional<Delivery>& delivery) {
  const auto& verdict = receipt.plan.judgement.verdict;
  const auto& subjects = receipt.plan.judgement.subjects;
  const auto& channel = promotion.request.channel;
  bool dry_run = promotion.options.dry_run;
  if (!receipt.completed && !verdict.cells.empty())
    context.out.data(
        verdict_text(verdict, subjects, {promotion.request.source.source, channel, context.out.data_look()}));
  if (receipt.held) {
    context.out.data(fmt::format("held: nothing was moved, {} stays as it is\n", channel));
    auto is_ready = [](const gate::CellVerdict& cell) { return cell.verdict == gate::Decision::ready; };
    if (promotion.request.ready_cells_only && std::ranges::any_of(verdict.cells, is_ready))
      context.out.data(
          "Ready cells stay, too: a family moves with all its Pythons and frameworks, and what moves must be "
          "installable without what is held.\n");
    auto ready_moves = asks_ready_moves(context, arguments, *promotion.store, promotion.request);
    return context.out.data(held_text(context, arguments, {promotion.request.policy, verdict, subjects, ready_moves}));
  }
  if (delivery && dry_run) context.out.data(delivery_text(promotion.to, *delivery, true));
  NextCommand again(context, "promote");
  if (dry_run) again.flags_of(arguments).signed_if(wants_signature(*promotion.store, receipt.plan));
  context.out.data(dry_run ? promote_dry_run_text(receipt, again, delivery.has_value()) : moved_text(receipt));
  if (delivery && !dry_run) context.out.data(delivery_text(promotion.to, *delivery, false));
  note_undo(context, arguments, receipt);
}

Result<int> run_promote(Context& context, const Arguments& arguments) {
  sys::keep_freed_memory();
  if (release::is_pattern(arguments.get("--to"))) return promote_release(context, arguments);
  Promotion promotion;
  TRY(promotion.options, promote_options_of(context, arguments));
  TRY(promotion.store, open_store(context, arguments.get("--store")));
  TRY(promotion.to, promotion_destination(context, arguments, *promotion.store));
  TRY(promotion.base, dependencies_of(context, arguments));
  TRY_DO(fill_request(context, arguments, promotion));
  auto& options = promotion.options;
  if (!arguments.has("--policy"))
    options.bound_anew = [&]() -> Result<void> {
      TRY(promotion.request.policy, policy_for(context, arguments, *promotion.store, promotion.request.channel));
      return {};
    };
  if (promotion.to.store) {
    options.along = [&](promote::Plan& plan) { return look_along(context, promotion, plan); };
    options.before_writing = [&](const promote::Plan& plan) { return check_before_the_move(context, promotion, plan); };
  }
  TRY(auto receipt, promote::promote(*promotion.store, promotion.request, options));
  context.out.findings(receipt.notes);
  std::optional<Delivery> delivery;
  if (promotion.to.store && !receipt.held) {
    TRY(delivery, copy_promoted(context, arguments, promotion, receipt));
  }
  auto document = document_of_promotion(promotion, receipt, delivery);
  context.out.document(document);
  print_promotion(context, arguments, promotion, receipt, delivery);
  if (receipt.held) return traits(ErrorKind::held).exit_code;
  return receipt.moved ? tell_what_moved(context, arguments, *promotion.store, {"promote", document}) : Result<int>(0);
}

std::vector<Flag> promote_flags() {
  return {
      {.name = "--from",
       .value = "LOCATOR",
       .help = "the sets: run:ID, set:DIGEST, channel:NAME or release:DIGEST",
       .required = true,
       .repeats = true},
      {.name = "--to", .value = "CHANNEL", .help = "where they go: a channel, or stable-{family}", .required = true},
      expect_flag(),
      {.name = "--policy",
       .value = "FILE",
       .help = "a policy file, or the name of a shipped one; a protected channel has its own",
       .fallback = "default"},
      {.name = "--cells",
       .value = "WHICH",
       .help = "all or nothing, or what is ready",
       .choices = {"all", "ready"},
       .fallback = "all"},
      base_index_flag(),
      {.name = "--pin", .value = "", .help = "first copy what a lifecycle rule would delete to where none does"},
      {.name = "--to-store", .value = "LOCATOR", .help = "copy what was promoted to this store, too"},
      {.name = "--prefix", .value = "PREFIX", .help = "where in that store, such as v2/{family}"},
      {.name = "--replace",
       .value = "NAME",
       .help = "a package of another tool in that directory whose link may be lost: a file or a project",
       .repeats = true},
      distributions_flag(),
      move_dry_run_flag(),
      move_execute_flag(),
      move_reason_flag(),
      sign_flag(),
      on_move_flag(),
      store_flag(),
      public_url_flag()};
}

Command promote_command() {
  return {
      .path = {"promote"},
      .summary = "move tested sets to a channel",
      .description =
          "Judges the sets of `--from` that the channel lacks by the policy, and when they are ready adds "
          "them to the channel: one pointer moves, no file is copied or changed, "
          "the URL of the channel stays the same. When the gate holds, nothing is written.\n\n"
          "A release (`quarry release create`), or several `--from`, are judged as a whole and move together. With "
          "`--to 'stable-{family}'` each set goes to the channel of its family: every verdict and every file is "
          "checked "
          "before the first channel moves, and a run that was killed between two is completed by the same "
          "`--execute`.\n\n"
          "`--dry-run` prints the plan and its digest; `--execute DIGEST` runs that plan and nothing else, "
          "and can be repeated safely: a plan that was executed is completed, not executed "
          "twice. When something moved in between, it is a conflict that says what.\n\n"
          "With `--cells ready` the cells that are held stay behind, and with them all that could not be installed "
          "without them: for each Python and platform, each requirement of what moves must be met in the channel or in "
          "the base index, with each of its extras but those that the policy lists as `empty_extras`. Only METADATA is "
          "read; no installer runs. Without a base index, dependencies of other projects are taken as given.\n\n"
          "A protected channel (`quarry channel protect`) brings its policy: without `--policy` it is that one, and "
          "another one is refused. A set with a file that a rollback took out of the channel is left out. Where that "
          "policy names signers of moves, `--sign` signs the entry of the ledger, and an unsigned move is refused.\n\n"
          "In object storage a lifecycle rule of the bucket may delete packages by itself; a protected channel takes "
          "none that one covers. With `--pin` these are copied on the server first, to `pinned/` in the same store, "
          "and the channel names the copies.\n\n"
          "With `--to-store` the promoted packages are then copied to another store, below `--prefix`: "
          "files, record and seal, pointer, pages, in that order. The files are copied on the server where both stores "
          "are of one service that honours the condition of a copy, else through this machine; the last line says how "
          "many bytes (docs/formats/store.md). `{family}` and `{platform}` in the prefix are replaced by those of the "
          "run. Without a "
          "prefix, `--distributions` says which one a channel has. The same command again completes it.\n\n"
          "What another tool published in that directory is taken over first, as untested history: every package is "
          "looked at by ranges, no file is moved or changed, and our pages list it beside ours. It counts for no gate. "
          "If a page would lose a link, nothing moves, unless `--replace` names the package.",

      .operands = {},
      .flags = promote_flags(),
      .examples = {{"quarry promote --from channel:staging --to stable --policy default --dry-run",
                    "the plan and its digest"},
                   {"quarry promote --from run:42 --to stable --policy default --cells ready", "what is ready, now"},
                   {"quarry promote --from release:0e66efc9cb8b --to 'stable-{family}'",
                    "a release, one channel for each family"},
                   {"quarry promote --from run:42 --to stable --policy default --store s3://builds --to-store "
                    "s3://dist --prefix v2/{family} --public-url s3://dist=https://repo.example.org",
                    "and copy it to the bucket that people install from"}},
      .exit_codes = {{1, "moved, and a command of --on-move failed"},
                     {3, "the source does not exist, or not sealed"},
                     {5, "the base index cannot be reached"},
                     {6, "a record was altered, or a file is gone"},
                     {7, "the reviewed plan is out of date, or a name has other bytes"},
                     {10, "held, by the gate or by the channel"}},
      .schema = "quarry.promote/1",
      .run = run_promote};
}

} // namespace

std::vector<Command> promote_commands() { return {promote_command(), rollback_command(), yank_command()}; }

} // namespace quarry::cli
