"""Which tests belong to a folder of sources, and how they run in a tree."""
import json
import pathlib
import re
import sys
import time

# The tests of a folder; the quickest run first. `unit:X` is the test binary telltale_X_test, `replay:X` the fuzz target over
# its corpus, `web:X` a file of web/tests, `script:X` a file of tests/end_to_end, `tour` the output that README.md and docs/ show.
VIEWS = ["tour", "script:test_mono_files", "script:test_views", "script:test_report", "script:test_diff"]
VERBS = ["tour", "script:test_help", "script:test_report", "script:test_diff", "script:test_record_filters",
         "script:test_mono_files", "script:test_views", "script:test_stacktrack", "script:test_sampler_tools",
         "script:test_sampler_answers", "script:test_live", "script:test_mono_answers", "script:test_mono_reports",
         "script:test_mono_windows", "script:test_run", "script:test_sites", "script:test_exports", "unit:cli",
         "script:test_run_ends", "script:test_interrupted", "script:test_run_refusals", "script:test_progress", "script:test_output_files",
         "script:test_strict"]
QUESTIONS = ["script:test_questions", "script:test_several_runs", "script:test_terminal", "script:test_diff_order",
             "script:test_waiting", "script:test_net_times"]
RELATED = {
    "src/base": ["unit:base", "unit:bytes", "unit:import", "unit:analysis", "script:test_help", *VIEWS],
    "src/bytes": ["unit:bytes", "replay:input_file", "unit:formats_xray", "unit:formats_mono", "unit:formats_sampler",
                  "unit:program", "unit:import", "script:test_reliability", "script:test_exports"],
    "src/formats/xray": ["unit:formats_xray", "replay:xray_fdr", "replay:xray_basic", "replay:xray_yaml", "unit:import",
                         "script:test_record_filters", "script:test_views"],
    "src/formats/mono": ["unit:formats_mono", "replay:mono_recording", "unit:import", "script:test_mono_files",
                         "script:test_mono_records"],
    "src/formats/sampler": ["unit:formats_sampler", "replay:sampler_text", "replay:static_sections", "unit:import",
                            "script:test_sampler_tools", "script:test_sampler_answers"],
    "src/formats/stacktrack": ["unit:formats_stacktrack", "replay:stacktrack", "unit:import", "script:test_stacktrack"],
    "src/formats/csi": ["unit:formats_csi", "replay:csi_path_metadata", "unit:import", "script:test_paths"],
    "src/import/csi": ["unit:import", "replay:core_file", "replay:debugger_text", "script:test_paths",
                       "script:test_paths_without_dwarf", "script:test_frame_coverage", "script:test_program_blocks", "script:test_program_lines",
                       "script:test_path_sources", "script:test_debugger_text", "script:test_slice"],
    "src/analysis/isolation": ["unit:analysis", "script:test_isolate_builds", "script:test_isolate",
                               "script:test_isolate_calls", "script:test_isolate_values"],
    "src/collect": ["unit:collect", "replay:collect", "script:test_collect_forms", "script:test_collect_requests",
                    "script:test_collect_store", "script:test_collect_send", "script:test_collect_reliability",
                    "script:test_collect_overload", "script:test_collect_pages", "script:test_network_program", "script:test_spark"],
    "src/report/paths": ["unit:report", "script:test_paths", "script:test_coverage", "script:test_path_pages",
                         "script:test_program_blocks", "script:test_program_lines"],
    "src/analysis/paths": ["unit:analysis", "script:test_paths", "script:test_program_blocks", "script:test_program_lines", "script:test_coverage",
                           "script:test_isolate_paths", "script:test_slice"],
    "src/cli/study": ["script:test_study", "script:test_collect_launcher", "script:test_study_paths", "script:test_isolate", "unit:cli",
                      "script:test_study_fuzz", "script:test_crash_clusters", "script:test_isolate_builds",
                      "script:test_isolate_labels", "script:test_isolate_paths", "script:test_collect_store"],
    "instrument/path_tracing": ["script:test_path_tracing", "script:test_path_builds", "script:test_paths",
                                "script:test_frame_coverage", "script:test_coverage", "script:test_program_blocks", "script:test_program_lines",
                                "script:test_path_crash_points"],
    "src/program": ["unit:program", "replay:instrumentation_map", "unit:import", "tour", "script:test_sites",
                    "script:test_reliability_names", "script:test_sampler_tools", "script:test_paths",
                    "script:test_path_sources", "script:test_symbols", "script:test_path_crash_points", "replay:core_file"],
    "src/model": ["unit:model", "unit:import", "unit:analysis", "unit:output", "script:test_record_filters", *VIEWS],
    "src/import": ["unit:import", "unit:analysis", "script:test_record_filters", *VIEWS, "script:test_stacktrack",
                   "script:test_sampler_answers", "script:test_sampler_tools", "script:test_mono_answers",
                   "script:test_mono_windows"],
    "src/analysis": ["unit:analysis", "unit:import", *VIEWS, "script:test_mono_answers", "script:test_mono_reports",
                     "script:test_mono_windows"],
    "src/output": ["unit:output", "unit:import", *VIEWS, "script:test_record_filters", "script:test_exports",
                   "script:test_stacktrack", "script:test_sampler_answers", "script:test_sampler_tools",
                   "script:test_mono_answers", "script:test_perfetto", "script:test_output_files"],
    "src/api": ["unit:api", *VIEWS, "script:test_exports", "script:test_install"],
    "src/cli": [*VERBS, *QUESTIONS, "script:test_control", "script:test_control_refusals", "script:test_flame_page"],
    "src/report": ["unit:report", "script:test_json_schemas", *VERBS, *QUESTIONS],
    "web": ["web:calls", "web:names", "web:kit", "web:flame", "web:paths", "unit:output", "script:test_flame_page"],
    "runtime/xray": ["script:test_xray_recorder", "script:test_gcc_recorder", "script:test_control",
                     "script:test_recorder_children", "script:test_xray_recorder_rows", "script:test_recorder_signals",
                     "script:test_recorder_clocks", "script:test_recorder_faults", "script:test_frequent_functions",
                     "script:test_waiting", "script:test_net_times"],
    "runtime/stacktrack": ["unit:stacktrack", "script:test_stacktrack_runtime", "script:test_stacktrack_values",
                           "script:test_recorder_children", "script:test_recorder_signals", "script:test_recorder_clocks",
                           "script:test_stacktrack_names", "script:test_stacktrack_reliability",
                           "script:test_recorder_faults"],
    "runtime/paths": ["script:test_crash_paths", "script:test_secure_execution", "script:test_study_paths",
                      "script:test_isolate_paths"],
    "runtime/signals": ["script:test_kept_handlers", "script:test_sampler_signals", "script:test_crash_paths",
                        "script:test_recorder_signals"],
    "runtime/descriptors": ["unit:descriptors", "script:test_closed_descriptors"],
    "runtime/sampler": ["unit:sampler_runtime", "script:test_sampler_compiler", "script:test_sampler_flags",
                        "script:test_sampler_endings", "script:test_sampler_trace", "script:test_sampler_rows",
                        "script:test_sampler_accesses", "script:test_sampler_killed", "script:test_sampler_signals",
                        "script:test_sampler_verbose", "script:test_sampler_joined", "script:test_collect_send",
                        "script:test_collect_endings"],
    "instrument": ["script:test_sampler_flags", "script:test_sampler_examples", "script:test_sampler_compiler",
                   "script:test_sampler_accesses", "script:test_sampler_places", "script:test_sampler_dataflow",
                   "script:test_sampler_regions", "script:test_sampler_ir", "script:test_sampler_statistics", "unit:driver",
                   "script:test_sampler_options", "script:test_sampler_modules", "script:test_sampler_joined",
                   "script:test_sampler_undefined", "script:test_path_builds"],
}
RECORDERS = ["stacktrack", "stacktrack_shared", "xray_recorder", "xray_recorder_shared"]
# What scripts run besides the program itself.
SCRIPT_TARGETS = {"test_reliability": ["write_samples", "mutation_driver"], "test_reliability_names": ["write_samples"],
                  "test_views": ["make_trace"], "test_stacktrack": [*RECORDERS, "mutation_driver"], "test_live": RECORDERS,
                  "test_control": [*RECORDERS, "telltale_json_schemas"], "test_control_refusals": RECORDERS,
                  "test_json_schemas": ["telltale_duckdb"], "test_run": RECORDERS, "test_install": ["all"],
                  "test_reliability_mutations": ["mutation_driver"], "test_strict": ["write_samples"],
                  "test_sampler_reliability": ["telltale_compilers", "mutation_driver"]}
# Scripts whose programs map more memory than a mutant may have, or set limits of their own.
SETS_LIMITS = re.compile("flame_page|recorder|runtime|stacktrack_|sampler_(?!tools|answers)|path|isolate")
FORMATS = sorted(path.parent.name for path in pathlib.Path(__file__).parents[2].glob("src/formats/*/CMakeLists.txt"))
# Too slow for each mutant: every verb on every prefix of every recording.
SLOW_UNIT_TESTS = "*VerbsOnPrefixes*"


def folder_of(path):
    """The row of RELATED for a source file."""
    parts = pathlib.PurePath(path).parts
    for length in (3, 2, 1):
        if "/".join(parts[:length]) in RELATED:
            return "/".join(parts[:length])
    return None


class Tests:
    """The related tests, with how many seconds each takes and whether it passes on the code as it is (kept in `path`). Both
    are found out when a mutant needs them: measuring all tests beforehand takes longer than ten mutants."""

    def __init__(self, path):
        self.path = path
        self.known = json.loads(path.read_text()) if path.is_file() else {}
        # What fails may have been tried while it was broken.
        self.known = {test: seconds for test, seconds in self.known.items() if seconds is not None}

    @staticmethod
    def targets(test):
        """What ninja has to build for a test."""
        kind, _, name = test.partition(":")
        if kind == "unit":
            return [name + "_test" if name in ("stacktrack", "sampler_runtime", "driver") else "telltale_%s_test" % name]
        if kind == "replay":
            return [name + "_fuzz"]
        if kind == "tour":
            return ["telltale", "telltale_compilers", *RECORDERS]
        if kind == "web":
            return ["web/page.html"]
        if name in SCRIPT_TARGETS:
            return ["telltale", *SCRIPT_TARGETS[name]]
        if re.search(r"collect|network|spark", name):
            return ["telltale", "telltale_collect_program", "telltale_compilers", "telltale_duckdb"]
        if re.search(r"kept_handlers|secure_execution", name):
            return ["telltale", *RECORDERS, "telltale_compilers"]
        if re.search(r"recorder|stacktrack_|frequent_functions|waiting|net_times", name):
            return ["telltale", *RECORDERS, "forbidden_calls", "stacktrack_programs"]
        if re.search(r"sampler_(?!tools|answers)|path|isolate", name):
            return ["telltale", "telltale_compilers", "forbidden_calls", "telltale_duckdb"]
        return ["telltale"]

    def run(self, test, tree, seconds):
        kind, _, name = test.partition(":")
        binary = str(tree.build / "bin" / self.targets(test)[0])
        cpu_seconds = 10 + 4 * int(self.known.get(test) or 60)
        if name == "sampler_runtime":  # settings are read once a process
            return tree.run(["ctest", "--test-dir", str(tree.build), "-R", "^unit.sampler_runtime", "--stop-on-failure"],
                            seconds, limited=True, cpu_seconds=cpu_seconds)
        if kind == "unit":
            return tree.run([binary, "--gtest_fail_fast", "--gtest_brief=1", "--gtest_filter=-" + SLOW_UNIT_TESTS], seconds,
                            limited=True, cpu_seconds=cpu_seconds)
        if kind == "replay":
            return tree.run([binary, "fuzz/corpus/" + name], seconds, limited=True, cpu_seconds=cpu_seconds)
        if kind == "tour":
            return tree.run([sys.executable, "tools/check_tour.py", tree.environment["TELLTALE"]], seconds, limited=True,
                            cpu_seconds=cpu_seconds)
        if kind == "web":
            test = name if name == "types" else "web/tests/%s.test.mjs" % name
            return tree.run([sys.executable, "tests/web_test.py", test], seconds)
        return tree.run([sys.executable, "-B", "-m", "unittest", "-f", name], seconds, cpu_seconds=cpu_seconds,
                        cwd=tree.source / "tests" / "end_to_end", limited=not SETS_LIMITS.search(name))

    @staticmethod
    def of_folders(folders):
        return list(dict.fromkeys(test for folder in folders for test in RELATED[folder]))

    def exists(self, test, tree):
        kind, _, name = test.partition(":")
        if kind == "web":
            return (tree.source / "web" / "tests" / (name + ".test.mjs")).is_file()
        if kind == "script":
            return (tree.source / "tests" / "end_to_end" / (name + ".py")).is_file()
        return kind == "tour" or tree.ninja("-t", "query", self.targets(test)[0])[0] == 0

    def check(self, folders, tree):
        """Ends the program if RELATED names a test that is not there."""
        for test in self.of_folders(folders):
            if not self.exists(test, tree):
                sys.exit("tools/mutate.py: RELATED names %s, which is not there" % test)

    def keep(self, test, seconds):
        """Remembers how long a test takes that passes; None for one that fails without any mutant and is not used."""
        self.known[test] = seconds
        self.path.write_text(json.dumps(self.known, indent=1))

    def measure(self, test, tree):
        """Runs a test on the code as it is."""
        begin = time.monotonic()
        status, output = self.run(test, tree, 900)
        self.keep(test, time.monotonic() - begin if status == 0 else None)
        if status != 0:
            print("%s FAILS without a mutant; not used:\n%s" % (test, output[-600:]), flush=True)

    def related(self, path):
        """The tests of a source, the quickest first; without scripts about other formats than the one that the source's path
        names, and without recording where it is about something else."""
        name = path.removeprefix("src/")
        formats = [word for word in FORMATS if word in name]
        others = [word for word in FORMATS if formats and word not in formats]
        if not re.search("run|record|child|repeat|follow", name):
            others += ["test_run", "test_live"]
        tests = [test for test in RELATED[folder_of(path)]
                 if self.known.get(test, 0) is not None and not any(word in test for word in others)]
        return sorted(tests, key=self.usual_seconds)

    def usual_seconds(self, test):
        """As measured, or a guess."""
        return self.known.get(test) or (15 if test.startswith("script:") or test == "tour" else 2)

    def seconds(self, test):
        """After that many seconds, a test counts as failed."""
        return 60 + 8 * max(self.usual_seconds(test), 0 if test in self.known else 60)
