"""spark-submit's entry, and `python3 -m telltale_spark STORE`: prints JSON with the rows of `telltale isolate --json`."""
import argparse
import json
import sys

from pyspark.sql import SparkSession

from .counts import StoreCounts
from .isolation import Isolation
from .predicates import Matches, read_sites


def main():
    parser = argparse.ArgumentParser(prog="telltale_spark", description="Ranks the predicates that predict failure, of the reports in a store.")
    parser.add_argument("store", help="folder of a store, in any notation that Spark reads")
    parser.add_argument("--application", required=True)
    parser.add_argument("--build", default="", help="only runs of builds whose id begins with this")
    parser.add_argument("--all", action="store_true", help="rank all predicates; discard no runs")
    parser.add_argument("--without-bounds", action="store_true", help="leave out predicates of the scheme bounds, which Spark does not compute")
    parser.add_argument("--without-paths", action="store_true", help="leave out predicates of path files, which Spark does not decode")
    parser.add_argument("--master", help="Spark's master, such as local[2]; by default that of spark-submit")
    options = parser.parse_args()
    builder = SparkSession.builder.appName("telltale isolate")
    spark = (builder.master(options.master) if options.master else builder).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    folder = f"{options.store}/sites/{options.application}"
    texts = {path.rsplit("/", 1)[1].removesuffix(".sites"): text for path, text in spark.sparkContext.wholeTextFiles(f"{folder}/*.sites").collect()}
    builds = StoreCounts.builds_by_age(spark, options.store, options.application, options.build)
    sites = read_sites(texts[build] for build in builds if build in texts)
    if not options.without_bounds and any(scheme == "bounds" for _, scheme in sites.known):
        sys.exit("telltale_spark: the program has sites of bounds, whose numbers only telltale isolate finds; --without-bounds leaves them out")
    matches = Matches(sites)
    counts = StoreCounts(spark, options.store, options.application, options.build, sites, matches)
    if counts.path_files and not options.without_paths:
        sys.exit(f"telltale_spark: {counts.path_files} runs left path files, which only telltale isolate decodes; --without-paths leaves them out")
    isolation = Isolation(counts, sites.groups, matches)
    document = {"runs": {"failing": isolation.initial.failing, "successful": isolation.initial.successful, "skipped": counts.skipped,
                         "without_report": counts.without_report, "unresolved": counts.unresolved},
                "path_files_left_out": counts.path_files,
                "rows": isolation.rank_all() if options.all else isolation.eliminate()}
    json.dump(document, sys.stdout, indent=1)
    print()
    spark.stop()


if __name__ == "__main__":
    main()
