#include <algorithm>
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

int print_all(const std::string& text) { return print(text) ? kDone : kUnreadable; }

// The description of the named verb, or of telltale for "". The command line has checked the name.
VerbWords verb_of(const VerbWords& all, const std::string& name) {
  const auto found = std::ranges::find(all.verbs, name, &VerbWords::name);
  return found == all.verbs.end() ? all : *found;
}

Result<void> write_file(const std::string& path, const std::string& text) {
  Result<OutputFile> file = OutputFile::open(path);
  if (!file) return std::unexpected(file.error());
  if (Result<void> written = file->write(text); !written) return written;
  return file->finish();
}

int write_man_pages(const VerbWords& all, const std::string& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) return report_error(io_error(folder, "cannot make", failure.value()).error());
  const auto write = [&](const VerbWords& verb) {
    return write_file(folder + "/" + man_page_name(verb) + ".1", man_page(all, verb));
  };
  Result<void> done = write(all);
  for (const VerbWords& verb : all.verbs) {
    if (done) done = write(verb);
  }
  return done ? kDone : report_error(done.error());
}

}  // namespace

void add_help_verbs(Command app, int& status) {
  Command help = app.add_verb("help", "list the verbs, or explain a verb and its options");
  Command man = app.add_verb("man", "print a manual page in roff; read it with `man -l -`");
  Command completion = app.add_verb(
      "completion", "print a completion script for a shell: source <(telltale completion bash)");
  const auto shell = std::make_shared<std::string>();
  completion.add_option("SHELL", *shell, "the shell")
      .type_name("SHELL")
      .required()
      .one_of({"bash", "zsh", "fish"});
  completion.callback(
      [app, &status, shell] { status = print_all(completion_script(*shell, words_of(app))); });
  std::vector<std::string> verbs;
  for (const VerbWords& each : words_of(app).verbs) verbs.push_back(each.name);
  const auto verb = std::make_shared<std::string>();
  const auto folder = std::make_shared<std::string>();
  for (Command each : {help, man}) {
    each.add_option("VERB", *verb, "the verb; without one: telltale itself")
        .type_name("VERB")
        .one_of(verbs);
  }
  man.add_option("--all", *folder, "write all pages into this folder")
      .type_name("FOLDER")
      .excludes("VERB");
  help.callback(
      [app, &status, verb] { status = print_all(help_text(verb_of(words_of(app), *verb))); });
  man.callback([app, &status, verb, folder] {
    const VerbWords all = words_of(app);
    status = folder->empty() ? print_all(man_page(all, verb_of(all, *verb)))
                             : write_man_pages(all, *folder);
  });
}

}  // namespace telltale::cli
