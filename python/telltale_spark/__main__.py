"""spark-submit's entry, and `python3 -m telltale_spark STORE`: prints JSON with the rows of `telltale isolate --json`."""
import argparse
import json
import sys

from pyspark.sql import SparkSession

from .counts import StoreCounts
from .isolation import Isolation
from .predicates import read_groups


def main():
    parser = argparse.ArgumentParser(prog="telltale_spark", description="Ranks the predicates that predict failure, of the reports in a store.")
    parser.add_argument("store", help="folder of a store, in any notation that Spark reads")
    parser.add_argument("--application", required=True)
    parser.add_argument("--build", default="", help="only runs of builds whose id begins with this")
    parser.add_argument("--all", action="store_true", help="rank all predicates; discard no runs")
    parser.add_argument("--master", help="Spark's master, such as local[2]; by default that of spark-submit")
    options = parser.parse_args()
    builder = SparkSession.builder.appName("telltale isolate")
    spark = (builder.master(options.master) if options.master else builder).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    folder = f"{options.store}/sites/{options.application}"
    texts = sorted(spark.sparkContext.wholeTextFiles(f"{folder}/*.sites").collect())
    groups, known = read_groups(text for path, text in texts if path.rsplit("/", 1)[1].startswith(options.build))
    counts = StoreCounts(spark, options.store, options.application, options.build, groups, known)
    isolation = Isolation(counts, groups)
    document = {"runs": {"failing": isolation.initial.failing, "successful": isolation.initial.successful, "skipped": counts.skipped,
                         "without_report": counts.without_report, "unresolved": counts.unresolved},
                "rows": isolation.rank_all() if options.all else isolation.eliminate()}
    json.dump(document, sys.stdout, indent=1)
    print()
    spark.stop()


if __name__ == "__main__":
    main()
