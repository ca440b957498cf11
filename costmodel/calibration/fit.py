# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fits the residual of the cost model: log(measured / analytic) of published kernel runs.

Reads the table that `kw score --features` writes, writes what costmodel/Residual.h reads.
`kw calibrate` runs it; nothing else needs Python. Deterministic: one thread, fixed seeds.

  fit.py fit   --features CSV --out JSON     the families of a calibration file
  fit.py cross --features CSV --out CSV      a prediction for every row, its group left out

Folds are weight shapes (GEMM), layer sizes (MoE), head sizes (attention): the column `group`.
With --left-out COLUMN=VALUE such rows are predicted, by a fit of all others, instead of folds.
Rows marked `doubtful` are predicted and never learnt from.
"""
import argparse
import json
import sys

import lightgbm
import numpy
import pandas

MISSING = -1000.0  # costmodel/calibration/Trees.h: missingInput
HELD_OUT_FOLDS = 10
EFFECTS = [
    ["generator"],
    ["generator", "variant"],
    ["dtype"],
    ["dtype", "generator"],
    ["generator", "dtype", "kernel"],
]
# A category's mean deviation counts as if this many more weight shapes had deviated by 0.
SHRINKAGE = 3.0
# log2 of rows at the edges of the buckets 64, 512 and 2047 in which coverage is made right.
BUCKET_EDGES = [6.01, 9.01, 10.9995]
COMMON = {
    "verbose": -1,
    "num_threads": 1,
    "deterministic": True,
    "force_col_wise": True,
    "seed": 7,
    "feature_fraction": 0.4,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "lambda_l2": 5.0,
    "max_bin": 127,
}
# By cross-validation; the mean of an L1 and an L2 fit: the one is right for most rows, the other
# for most weight shapes.
TREES = {"num_leaves": 31, "learning_rate": 0.1, "min_data_in_leaf": 20, "rounds": 150}
FEW_ROWS = 2000
TREES_OF_FEW_ROWS = {"num_leaves": 8, "learning_rate": 0.15, "min_data_in_leaf": 40, "rounds": 100}
WIDTH = {"objective": "quantile", "alpha": 0.8, "num_leaves": 8, "learning_rate": 0.1,
         "min_data_in_leaf": 50, "rounds": 40}


class Cases:
    """The rows of one family that may be learnt from, as arrays."""

    def __init__(self, table):
        self.table = table.reset_index(drop=True)
        t = self.table
        self.analytic = t.analytic_us.to_numpy(float)
        self.truth = numpy.log(t.measured_us.to_numpy(float) / self.analytic)
        # Most deviate by less; a row that is off by a factor of 4 teaches no more than that.
        self.target = numpy.clip(self.truth, -1.4, 1.4)
        self.group = t.group.astype(str).to_numpy()
        self.learnable = numpy.flatnonzero(t.doubtful.to_numpy() == 0)
        # Ten weight shapes hold half of the rows, a few sizes most candidates: between each row
        # and each size of each shape counting once.
        size = t.group.astype(str) + "|" + (t.log_rows // 1).astype(str)
        weight = 1 / numpy.sqrt(size.map(size.value_counts()).to_numpy(float))
        self.weight = weight / weight.mean()
        first = list(t.columns).index("log_rows")
        self.features = [c for c in t.columns[first:]]
        terms = [c for c in t.columns if c.startswith("term_") and c != "term_residual"]
        values = [t[c].to_numpy(float) for c in self.features]
        values += [t[c].to_numpy(float) / self.analytic for c in terms]
        values.append(numpy.log2(self.analytic))
        self.inputs = self.features + ["share:" + c[len("term_"):] for c in terms] + ["log_us"]
        self.values = numpy.column_stack(values).astype(numpy.float32)
        self.keys = [self.key(of) for of in EFFECTS]
        logs = t.log_rows.to_numpy(float)
        self.bucket = numpy.searchsorted(BUCKET_EDGES, logs)

    def key(self, of):
        columns = [self.table[c].fillna("").astype(str) for c in of]
        key = columns[0]
        for column in columns[1:]:
            key = key + "|" + column
        return key.to_numpy()

    def __len__(self):
        return len(self.table)


def folds(groups, count, seed):
    """Index pairs (learn, judge); a group is in one fold; folds of about equal numbers of rows."""
    names, inverse, sizes = numpy.unique(groups, return_inverse=True, return_counts=True)
    order = numpy.random.default_rng(seed).permutation(len(names))
    order = order[numpy.argsort(-sizes[order], kind="stable")]
    load = numpy.zeros(min(count, len(names)))
    fold_of = numpy.empty(len(names), int)
    for name in order:
        fold_of[name] = load.argmin()
        load[fold_of[name]] += sizes[name]
    fold = fold_of[inverse]
    return [(numpy.flatnonzero(fold != f), numpy.flatnonzero(fold == f)) for f in range(len(load))]


def fit_effects(cases, rows):
    """One table per entry of EFFECTS: key -> shrunk mean; each weight shape counts at most twice."""
    deviation = cases.target[rows] - numpy.average(cases.target[rows], weights=cases.weight[rows])
    tables = []
    for key in cases.keys:
        frame = pandas.DataFrame({"key": key[rows], "group": cases.group[rows], "d": deviation})
        means = frame.groupby(["key", "group"]).d.agg(["median", "size"]).reset_index()
        root = numpy.sqrt(means["size"])
        means["weight"] = 2 * root / (root + 1)
        means["sum"] = means["median"] * means["weight"]
        sums = means.groupby("key")[["sum", "weight"]].sum()
        tables.append((sums["sum"] / (sums["weight"] + SHRINKAGE)).to_dict())
    return tables


def effect_values(cases, tables, rows):
    """0 for a category that hasn't been seen: what shrinkage says of no data."""
    columns = [pandas.Series(key[rows]).map(table).fillna(0).to_numpy(float)
               for key, table in zip(cases.keys, tables)]
    return numpy.column_stack(columns)


def honest_effects(cases, rows):
    """Effects of each row from other groups than its own, as they will be for a new one."""
    values = numpy.zeros((len(rows), len(EFFECTS)))
    for learn, judge in folds(cases.group[rows], 5, 1):
        values[judge] = effect_values(cases, fit_effects(cases, rows[learn]), rows[judge])
    return values


def matrix(cases, rows, effects):
    values = numpy.column_stack([cases.values[rows], effects]).astype(numpy.float32)
    return numpy.nan_to_num(values, nan=MISSING)


def boost(values, target, weight, settings):
    parameters = COMMON | {k: v for k, v in settings.items() if k != "rounds"}
    data = lightgbm.Dataset(values, target, weight=weight)
    return lightgbm.train(parameters, data, settings["rounds"])


class Residual:
    def __init__(self, cases, rows, few=False):
        trees = TREES if len(rows) >= FEW_ROWS and not few else TREES_OF_FEW_ROWS
        self.effects = fit_effects(cases, rows)
        values = matrix(cases, rows, honest_effects(cases, rows))
        self.boosters = [boost(values, cases.target[rows], cases.weight[rows],
                               trees | {"objective": objective})
                         for objective in ("regression_l1", "regression")]

    def predict(self, cases, rows):
        values = matrix(cases, rows, effect_values(cases, self.effects, rows))
        return sum(b.predict(values) for b in self.boosters) / len(self.boosters)


def out_of_fold(cases):
    """Predictions of every row by a fit without its group."""
    predicted = numpy.full(len(cases), numpy.nan)
    for learn, judge in folds(cases.group, HELD_OUT_FOLDS, 0):
        learn = numpy.intersect1d(learn, cases.learnable)
        predicted[judge] = Residual(cases, learn).predict(cases, judge)
    return predicted


class Width:
    """Half widths of 80% intervals, from the errors of out-of-fold predictions."""

    def __init__(self, cases, rows, errors):
        values = matrix(cases, rows, honest_effects(cases, rows))
        self.effects = fit_effects(cases, rows)
        absolute = numpy.abs(errors)
        self.booster = boost(values, absolute, None, WIDTH)
        # The fit saw these errors; what it says of groups it hasn't seen sets the scale.
        ratio = numpy.full(len(rows), numpy.nan)
        for learn, judge in folds(cases.group[rows], 4, 2):
            inner = boost(values[learn], absolute[learn], None, WIDTH)
            ratio[judge] = absolute[judge] / numpy.maximum(inner.predict(values[judge]), 0.01)
        everywhere = numpy.quantile(ratio, 0.8)
        self.scale = []
        for bucket in range(len(BUCKET_EDGES) + 1):
            own = ratio[cases.bucket[rows] == bucket]
            pull = len(own) / (len(own) + 100)
            quantile = numpy.quantile(own, 0.8) if len(own) else everywhere
            self.scale.append(float(pull * quantile + (1 - pull) * everywhere))

    def predict(self, cases, rows):
        values = matrix(cases, rows, effect_values(cases, self.effects, rows))
        raw = numpy.maximum(self.booster.predict(values), 0.01)
        return raw * numpy.array(self.scale)[cases.bucket[rows]]


def short(number):
    """The shortest decimal that is the same 32-bit float."""
    return float(str(numpy.float32(number)))


def threshold(number):
    """The largest 32-bit float that isn't above: compares alike for 32-bit inputs."""
    single = numpy.float32(number)
    return short(single if single <= number else numpy.nextafter(single, numpy.float32(-1e38)))


def flat_trees(boosters, factor):
    flat = {"roots": [], "input": [], "threshold": [], "left": [], "right": [], "leaves": []}

    def add(node):
        if "leaf_value" in node and "split_feature" not in node:
            flat["leaves"].append(short(node["leaf_value"] * factor))
            return -len(flat["leaves"])
        at = len(flat["input"])
        flat["input"].append(node["split_feature"])
        flat["threshold"].append(threshold(node["threshold"]))
        flat["left"].append(0)
        flat["right"].append(0)
        flat["left"][at] = add(node["left_child"])
        flat["right"][at] = add(node["right_child"])
        return at

    for booster in boosters:
        for tree in booster.dump_model()["tree_info"]:
            root = tree["tree_structure"]
            if "split_feature" not in root:  # a tree of one leaf: a node with equal children
                root = {"split_feature": 0, "threshold": 0.0, "left_child": root, "right_child": root}
            flat["roots"].append(add(root))
    return flat


def unseen(cases):
    """A new generator: each known one counts once."""
    def of(rows):
        rows = numpy.intersect1d(rows, cases.learnable)
        means = pandas.Series(cases.target[rows]).groupby(cases.table.generator.to_numpy()[rows])
        medians = means.median()[means.size() >= 5]
        if not len(medians):
            return None
        centre = float(medians.mean())
        spread = numpy.abs(cases.target[rows] - centre)
        by_generator = spread_quantiles(spread, cases.table.generator.to_numpy()[rows])
        return {"log": short(centre), "half_width": short(max(by_generator, 0.3))}
    general = of(numpy.arange(len(cases))) or {"log": 0.0, "half_width": 0.3}
    by_type = {dtype: of(numpy.flatnonzero((cases.table.dtype == dtype).to_numpy())) or general
               for dtype in sorted(cases.table.dtype.unique())}
    rows = cases.table.log_rows.to_numpy(float)[cases.learnable]
    return {"any": general, "by_dtype": by_type, "new_type_half_width": new_type(cases),
            "log_rows": [short(rows.min()), short(rows.max())]}


def new_type(cases):
    """What covers 80% of a type that the fit hasn't seen: the mean over types, each left out."""
    dtype = cases.table.dtype.to_numpy()
    quantiles = []
    for name in sorted(set(dtype)):
        judge = numpy.intersect1d(cases.learnable, numpy.flatnonzero(dtype == name))
        learn = numpy.setdiff1d(cases.learnable, judge)
        if len(judge) >= 20 and len(learn) >= 200:
            predicted = Residual(cases, learn, few=True).predict(cases, judge)
            quantiles.append(numpy.quantile(numpy.abs(cases.truth[judge] - predicted), 0.8))
    return short(numpy.mean(quantiles)) if quantiles else 0.3


def spread_quantiles(spread, generator):
    quantiles = pandas.Series(spread).groupby(generator).quantile(0.8)
    return float(quantiles.mean()) if len(quantiles) else 0.0


def score(cases, rows, predicted):
    """Mean of the errors by rows and by groups, which both have a bar."""
    error = pandas.Series(numpy.abs(numpy.exp(predicted - cases.truth[rows]) - 1))
    by_group = error.groupby(cases.group[rows]).mean().mean()
    return float(error.mean()), float(error.median()), float(by_group)


def fit_family(cases):
    rows = cases.learnable
    residual = Residual(cases, rows)
    predicted = out_of_fold(cases)[rows]
    width = Width(cases, rows, cases.truth[rows] - predicted)
    mape, median, by_group = score(cases, rows, predicted)
    return {
        "inputs": cases.inputs + [f"effect:{i}" for i in range(len(EFFECTS))],
        "effects": [{"of": of, "values": {k: short(v) for k, v in sorted(table.items())}}
                    for of, table in zip(EFFECTS, residual.effects)],
        "trees": flat_trees(residual.boosters, 1 / len(residual.boosters)),
        "width_trees": flat_trees([width.booster], 1),
        "width_by_rows": {"log_rows": BUCKET_EDGES, "scale": [short(s) for s in width.scale]},
        "generators": {k: int(v) for k, v in sorted(cases.table.generator.value_counts().items())},
        "unseen": unseen(cases),
        "errors": {"rows": len(rows), "doubtful": len(cases) - len(rows),
                   "cross_validation": {"mape": short(mape), "median": short(median),
                                        "by_group": short(by_group)}},
    }


def cross_family(cases):
    """Every row by fits that left its group out, also those that judge how wide intervals are."""
    predicted = out_of_fold(cases)
    errors = cases.truth - predicted
    width = numpy.full(len(cases), numpy.nan)
    for learn, judge in folds(cases.group, 5, 3):
        learn = numpy.intersect1d(learn, cases.learnable)
        width[judge] = Width(cases, learn, errors[learn]).predict(cases, judge)
    return predictions(cases, numpy.arange(len(cases)), predicted, width)


def cross_left_out(cases, column, value):
    """The rows with this value, by a fit of the others; as the program does, a generator that
    these don't have gets what is known without it."""
    out = (cases.table[column].astype(str) == value).to_numpy()
    learn = numpy.setdiff1d(cases.learnable, numpy.flatnonzero(out))
    judge = numpy.flatnonzero(out)
    if not len(learn) or not len(judge):
        return predictions(cases, judge[:0], [], [])
    known = Cases(cases.table.iloc[learn])
    errors = known.truth - out_of_fold(known)
    log = Residual(cases, learn).predict(cases, judge)
    width = Width(known, numpy.arange(len(known)), errors).predict(cases, judge)
    generators = set(known.table.generator)
    new = ~cases.table.generator.iloc[judge].isin(generators).to_numpy()
    general = unseen(known)
    if column == "dtype":
        width = numpy.maximum(width, general["new_type_half_width"])
    return predictions(cases, judge, numpy.where(new, general["any"]["log"], log),
                       numpy.where(new, general["any"]["half_width"], width))


def predictions(cases, rows, log, half_width):
    return pandas.DataFrame({"line": cases.table.line.to_numpy()[rows], "log": log,
                             "half_width": numpy.clip(half_width, 0.01, 1.5)})


def read(path):
    table = pandas.read_csv(path, low_memory=False)
    table.insert(0, "line", numpy.arange(len(table)))
    usable = (table.measured_us.notna() & table.analytic_us.notna() & table["flags"].isna()
              & ~table.split.isin(["test"]))
    table = table[usable]
    return {family: Cases(part) for family, part in table.groupby("family")}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["fit", "cross"])
    parser.add_argument("--features", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--left-out", metavar="COLUMN=VALUE")
    options = parser.parse_args()
    families = read(options.features)
    if options.what == "cross":
        column, _, value = (options.left_out or "").partition("=")
        parts = [cross_left_out(c, column, value) if column else cross_family(c)
                 for c in families.values()]
        pandas.concat(parts).to_csv(options.out, index=False, float_format="%.6g")
        return
    fitted = {}
    for family, cases in sorted(families.items()):
        print(f"{family}: {len(cases)} rows, {len(set(cases.group))} groups", flush=True)
        fitted[family] = fit_family(cases)
        print(f"  {fitted[family]['errors']}", flush=True)
    with open(options.out, "w", encoding="utf-8") as file:
        json.dump(fitted, file, separators=(",", ":"))


if __name__ == "__main__":
    sys.exit(main())
