#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "cli/help/completion.h"
#include "cli/help/help_text.h"
#include "cli/help/man_page.h"
#include "cli/options/reading_options.h"
#include "cli/verbs/verbs.h"
#include "output/output_file.h"

namespace telltale::cli {
namespace {

int print_or_say(const std::string& text) {
  if (print(text)) return kDone;
  return report_error(io_error("standard output", "cannot write", errno).error());
}

// The verb of that name, or all of telltale for "" (the command line has checked the name).
const CLI::App& verb_of(const CLI::App& app, const std::string& name) {
  return name.empty() ? app : *app.get_subcommand(name);
}

int print_man_page(const CLI::App& app, const std::string& verb, const std::string& version) {
  return print_or_say(man_page(words_of(app), words_of(verb_of(app, verb)), version));
}

Result<void> write_file(const std::string& path, const std::string& text) {
  Result<OutputFile> file = OutputFile::open(path);
  if (!file) return std::unexpected(file.error());
  if (Result<void> written = file->write(text); !written) return written;
  return file->finish();
}

int write_man_pages(const CLI::App& app, const std::string& folder, const std::string& version) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) return report_error(io_error(folder, "cannot make", failure.value()).error());
  const VerbWords all = words_of(app);
  const auto write = [&](const VerbWords& verb) {
    return write_file(folder + "/" + man_page_name(verb) + ".1", man_page(all, verb, version));
  };
  Result<void> done = write(all);
  for (const VerbWords& verb : all.verbs) {
    if (done) done = write(verb);
  }
  return done ? kDone : report_error(done.error());
}

std::vector<std::string> verb_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands({})) names.push_back(verb->get_name());
  return names;
}

}  // namespace

void add_help_verbs(CLI::App& app, int& status) {
  CLI::App* help = app.add_subcommand("help", "what there is, or what a verb does and takes");
  CLI::App* man = app.add_subcommand("man", "a manual page in roff; read it with `man -l -`");
  CLI::App* completion =
      app.add_subcommand("completion", "a script for a shell: source <(telltale completion bash)");
  const auto shell = std::make_shared<std::string>();
  completion->add_option("SHELL", *shell, "the shell")
      ->type_name("SHELL")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completion->callback(
      [&app, &status, shell] { status = print_or_say(completion_script(*shell, words_of(app))); });
  const std::vector<std::string> verbs = verb_names(app);
  const auto verb = std::make_shared<std::string>();
  const auto folder = std::make_shared<std::string>();
  for (CLI::App* each : {help, man}) {
    each->add_option("VERB", *verb, "the verb; without one: telltale itself")
        ->type_name("VERB")
        ->check(CLI::IsMember(verbs));
  }
  man->add_option("--all", *folder, "write all pages into this folder")
      ->type_name("FOLDER")
      ->excludes("VERB");
  help->callback(
      [&app, &status, verb] { status = print_or_say(help_text(words_of(verb_of(app, *verb)))); });
  man->callback([&app, &status, verb, folder] {
    status = folder->empty() ? print_man_page(app, *verb, app.version())
                             : write_man_pages(app, *folder, app.version());
  });
}

}  // namespace telltale::cli
