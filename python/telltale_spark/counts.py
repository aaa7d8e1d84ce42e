"""Counts over a store's runs, computed by Spark. Only counts reach the driver."""
import dataclasses

from pyspark.sql import functions as F

SCALE = 1 << 30  # of times, as in telltale: whole numbers, so that sums do not depend on their order


@dataclasses.dataclass
class Tally:
    failing: int
    successful: int
    patterns: dict  # (group, site): {counted: [successful, failing runs]}
    reported: dict  # set of groups: [successful, failing runs] that have one of them in their report


class StoreCounts:
    """The runs of an application in a store, as tables of what they observed."""

    def __init__(self, spark, store, application, build, sites, matches):
        groups = sites.groups
        # Builds are texts, also those that look like a number.
        spark.conf.set("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
        # Files of earlier versions have no column for path files.
        files = spark.read.option("mergeSchema", "true").parquet(f"{store}/runs")
        files = files.where((F.col("application") == application) & F.col("build").startswith(build))
        self.path_files = files.where("label != 'skipped' AND paths IS NOT NULL").count() if "paths" in files.columns else 0
        self.skipped = files.where(F.col("label") == "skipped").count()
        labelled = files.where(F.col("label") != "skipped")
        # Damage that leaves no section does not tell which program wrote the report.
        has_report = (F.col("bytes") > 0) & ((F.col("damage") == 0) | (F.size("sections") > 0))
        self.without_report = labelled.where(~has_report).count()
        # An id is unique in an application.
        sections = labelled.where(has_report).select("id", (F.col("label") == "failed").alias("failed"), F.explode_outer("sections").alias("s"))
        sections = sections.select("id", "failed", F.col("s.unit").alias("unit"), F.col("s.scheme").alias("scheme"), F.col("s.sites").alias("sites"),
                                   F.col("s.counted").alias("counted"), F.col("s.first").alias("first"))
        numbers = {(group.unit, group.scheme): number for number, group in enumerate(groups)}
        rows = [(unit, scheme, numbers.get((unit, scheme), -1), len(groups[numbers[unit, scheme]].rows) if (unit, scheme) in numbers else 0)
                for unit, scheme in sorted(sites.known)]
        table = spark.createDataFrame(rows, "unit string, scheme string, `group` int, size int")
        joined = sections.join(F.broadcast(table), ["unit", "scheme"], "left")
        # A run counts if a program has the sites of one of its sections.
        runs = joined.groupBy("id", "failed").agg(F.max(F.col("group").isNotNull()).alias("resolved"))
        self.unresolved = runs.where(~F.col("resolved")).count()
        self.runs = runs.where("resolved").select("id", "failed").cache()
        self.sections = joined.where("`group` >= 0").select("id", "failed", "group", "size", "sites", "counted", "first")
        pairs = self.sections.select("id", "failed", "group", "size", F.explode(F.arrays_zip("sites", "counted")).alias("o"))
        observed = pairs.select("id", "failed", "group", F.col("o.sites").alias("site"), F.col("o.counted").alias("counted"), "size") \
            .where(F.col("site") < F.col("size")).drop("size")
        self.same_as = [(*site, *first) for site, first in matches.same_as.items()]
        self.spark = spark
        if self.same_as:  # a process may have loaded two builds of a library, so that a run has a site twice
            observed = self.of_all_builds(observed).groupBy("id", "failed", "group", "site").agg(F.bit_or("counted").alias("counted"))
        self.observed = observed.cache()
        # Sites of schemes that a report observes as a whole: which groups have the same code.
        self.sets = sorted({matches.sections_of((number, site)) for number, group in enumerate(groups) if group.observed_by_report
                            for site in range(len(group.rows)) if (number, site) not in matches.same_as}, key=sorted)
        members = [(group, number) for number, members in enumerate(self.sets) for group in sorted(members)]
        self.members = spark.createDataFrame(members, "`group` int, `set` int")

    def of_all_builds(self, rows):
        """Rows with the site that stands for those of all builds."""
        if not self.same_as:
            return rows
        table = self.spark.createDataFrame(self.same_as, "`group` int, site int, to_group int, to_site int")
        return rows.join(F.broadcast(table), ["group", "site"], "left").withColumn("group", F.coalesce("to_group", "group")) \
            .withColumn("site", F.coalesce("to_site", "site")).drop("to_group", "to_site")

    @classmethod
    def builds_by_age(cls, spark, store, application, build):
        """The newest one first: that whose first run was received last."""
        spark.conf.set("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
        files = spark.read.parquet(f"{store}/runs").where((F.col("application") == application) & F.col("build").startswith(build))
        since = {row["build"]: row["since"] for row in files.groupBy("build").agg(F.min("received").alias("since")).collect()}
        return sorted(sorted(since), key=since.get, reverse=True)

    def tally(self, discarded=()):
        """Counts of the runs in which none of the (group, site, patterns) was true."""
        runs, observed, sections = self.runs, self.observed, self.sections
        for group, site, patterns in discarded:
            gone = self.observed.where((F.col("group") == group) & (F.col("site") == site) & F.col("counted").isin(*patterns)).select("id")
            runs, observed, sections = (each.join(gone, "id", "left_anti") for each in (runs, observed, sections))
        labels = {row["failed"]: row["count"] for row in runs.groupBy("failed").count().collect()}
        tally = Tally(labels.get(True, 0), labels.get(False, 0), {}, {})
        for row in observed.groupBy("group", "site", "counted", "failed").count().toLocalIterator():
            tally.patterns.setdefault((row["group"], row["site"]), {}).setdefault(row["counted"], [0, 0])[row["failed"]] += row["count"]
        for row in sections.join(F.broadcast(self.members), "group").groupBy("set", "failed").agg(F.countDistinct("id").alias("runs")).collect():
            tally.reported.setdefault(self.sets[row["set"]], [0, 0])[row["failed"]] += row["runs"]
        return tally

    def first_times(self):
        """(group, site, counted): sum of times and their number, over failing runs that tell when a site was first observed."""
        timed = self.sections.where("failed AND first IS NOT NULL") \
            .select("id", "group", "size", F.explode(F.arrays_zip("sites", "counted", "first")).alias("o")) \
            .select("id", "group", "size", F.col("o.sites").alias("site"), F.col("o.counted").alias("counted"), F.col("o.first").alias("first")) \
            .where("first > 0 AND site < size")
        timed = self.of_all_builds(timed)
        last = timed.groupBy("id").agg(F.max("first").alias("last"))
        share = F.floor(F.col("first").cast("double") / F.col("last").cast("double") * F.lit(float(SCALE)))
        sums = timed.join(last, "id").groupBy("group", "site", "counted").agg(F.sum(share).alias("sum"), F.count("*").alias("runs"))
        return {(row["group"], row["site"], row["counted"]): (int(row["sum"]), row["runs"]) for row in sums.toLocalIterator()}
