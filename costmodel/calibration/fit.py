# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fits the residual of the cost model: log(measured / analytic) of published kernel runs.

Reads the table that `kw score --features` writes, writes what costmodel/Residual.h reads.
`kw calibrate` runs it; nothing else needs Python. Deterministic: one thread, fixed seeds.

  fit.py fit   --features CSV --out JSON     the families of a calibration file
  fit.py cross --features CSV --out CSV      a prediction for every row, its group left out

Folds are weight shapes (GEMM), layer sizes (MoE), head sizes (attention): the column `group`.
With --left-out COLUMN=VALUE such rows are predicted, by a fit of all others, instead of folds.
Rows marked `doubtful` are predicted and never learnt from; wrong results are learnt from. A row
that stands three times is a fused operator and its two kernels: its prediction is the sum of
theirs.
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
# What runs of a kernel teach one of near sizes, beyond the trees: a Gaussian process whose
# covariance falls by e with so many octaves of a size. Only where kernels were timed at sizes that
# don't win too, or in few runs: GEMM rows get worse by it (4.7 to 6.4%; by weight shape 6.3 to
# 5.8%).
NEAR_FAMILIES = ["attention", "grouped_gemm"]
NEAR_OF = ["dtype", "generator", "kernel"]
NEAR_LENGTHS = {"log_rows": 2.0, "log_n": 1.5, "log_k": 1.5, "log_experts": 2.0, "sorted_rows": 0.3}
NEAR_DEVIATION, NEAR_NOISE = 0.25, 0.06
NEAR_MOST = 0.5  # a run that the trees miss by more teaches its neighbours no more than that
NEAR_LIKENESS = 0.3  # intervals: of a run that is less alike, the kernel is as good as new
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
        self.learnable = numpy.flatnonzero((t.doubtful == 0) & t.measured_us.notna())
        self.kernels = kernels_of_fused(t)
        # Judged: the legal rows of the tables; the kernels of a fused operator together.
        legal = t["flags"].isna() & ~t.duplicated(["file", "row"])
        self.own = self.learnable[legal.to_numpy()[self.learnable]]
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
        self.near_key = self.key(NEAR_OF) if t.family.iloc[0] in NEAR_FAMILIES else None
        sizes = t[list(NEAR_LENGTHS)].fillna(MISSING).to_numpy(float)
        self.fused = t.second_share.notna().to_numpy()
        self.exhaustive = t.exhaustive.to_numpy() == 1
        self.octave = numpy.floor(numpy.log2(numpy.maximum(t.m.to_numpy(float), 1))).astype(int)
        self.sizes = sizes / list(NEAR_LENGTHS.values())
        logs = t.log_rows.to_numpy(float)
        self.bucket = numpy.searchsorted(BUCKET_EDGES, logs)

    def key(self, of):
        columns = [self.table[c].fillna("").astype(str) for c in of]
        key = columns[0]
        for column in columns[1:]:
            key = key + "|" + column
        return key.to_numpy()

    def summed(self, log):
        """Of fused operators the logarithm of the sum of their kernels' times, the rest as it is."""
        whole, first, second = self.kernels.T
        us = sum(self.analytic[part] * numpy.exp(log[part]) for part in (first, second))
        log = log.copy()
        log[whole] = numpy.where(numpy.isfinite(us), numpy.log(us / self.analytic[whole]), log[whole])
        return log

    def __len__(self):
        return len(self.table)


def kernels_of_fused(table):
    """Lines of each fused operator, of its first and of its second kernel."""
    lines = [of for of in table.groupby(["file", "row"], sort=False).indices.values() if len(of) == 3]
    return numpy.array(lines, dtype=int).reshape(-1, 3)


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


def width_matrix(cases, rows, effects, nearest):
    return numpy.column_stack([matrix(cases, rows, effects), nearest.astype(numpy.float32)])


def boost(values, target, weight, settings):
    parameters = COMMON | {k: v for k, v in settings.items() if k != "rounds"}
    data = lightgbm.Dataset(values, target, weight=weight)
    return lightgbm.train(parameters, data, settings["rounds"])


class NearRuns:
    """Each kernel's runs with the weights of a Gaussian process over `deviation`."""

    def __init__(self, cases, rows, deviation):
        self.runs = {}
        if cases.near_key is None:
            return
        deviation, lengths = numpy.clip(deviation, -NEAR_MOST, NEAR_MOST), list(NEAR_LENGTHS.values())
        for key, at in positions(cases.near_key[rows]):
            sizes = numpy.round(cases.sizes[rows[at]] * lengths, 2)  # what the file says of them
            sizes, which = numpy.unique(sizes, axis=0, return_inverse=True)
            sizes /= lengths
            runs = pandas.Series(deviation[at]).groupby(which.reshape(-1))
            # Repeats share most of what a run is off by: the layer, the day, the commit.
            noise = NEAR_NOISE**2 * (0.3 + 0.7 / runs.size().to_numpy())
            covariance = NEAR_DEVIATION**2 * likeness(sizes, sizes) + numpy.diag(noise)
            weights = NEAR_DEVIATION**2 * numpy.linalg.solve(covariance, runs.median().to_numpy())
            self.runs[key] = (sizes, weights)

    def json(self):
        """Runs of a kernel: its sizes and its weight, one after the other."""
        lengths = list(NEAR_LENGTHS.values())
        runs = {key: [v for size, weight in zip(sizes * lengths, weights)
                      for v in [*numpy.round(size, 2).tolist(), float(f"{weight:.4g}")]]
                for key, (sizes, weights) in sorted(self.runs.items())}
        return {"of": NEAR_OF, "sizes": list(NEAR_LENGTHS), "lengths": lengths, "runs": runs}

    def predict(self, cases, rows):
        """Expected deviation, and how near the nearest run is: from 0 (none) to 1 (that case)."""
        expected, nearest = numpy.zeros(len(rows)), numpy.zeros(len(rows))
        if cases.near_key is None:
            return expected, nearest
        for key, at in positions(cases.near_key[rows]):
            if key in self.runs:
                sizes, weights = self.runs[key]
                alike = likeness(cases.sizes[rows[at]], sizes)
                expected[at], nearest[at] = alike @ weights, alike.max(axis=1)
        return expected, nearest


def positions(keys):
    order = numpy.argsort(keys, kind="stable")
    names, first = numpy.unique(keys[order], return_index=True)
    return zip(names, numpy.split(order, first[1:]))


def likeness(a, b):
    return numpy.exp(-numpy.sqrt(((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2)))


def honest_nearest(cases, rows, splits):
    """Nearness of each row to runs of another part: groups, as it will be for a new one; octaves."""
    nearest = numpy.zeros(len(rows))
    for learn, judge in splits:
        runs = NearRuns(cases, rows[learn], numpy.zeros(len(learn)))
        nearest[judge] = runs.predict(cases, rows[judge])[1]
    return nearest


def octaves(cases, rows):
    """Index pairs (learn, judge): every other octave of rows that there are."""
    odd = numpy.unique(cases.octave[cases.learnable]).searchsorted(cases.octave[rows]) % 2 == 1
    return [(numpy.flatnonzero(odd != o), numpy.flatnonzero(odd == o)) for o in (False, True)]


class Residual:
    def __init__(self, cases, rows, few=False):
        trees = TREES if len(rows) >= FEW_ROWS and not few else TREES_OF_FEW_ROWS
        self.effects = fit_effects(cases, rows)
        values = matrix(cases, rows, honest_effects(cases, rows))
        self.boosters = [boost(values, cases.target[rows], cases.weight[rows],
                               trees | {"objective": objective})
                         for objective in ("regression_l1", "regression")]
        self.near = NearRuns(cases, rows, cases.target[rows] - self.trees(cases, rows))

    def trees(self, cases, rows):
        values = matrix(cases, rows, effect_values(cases, self.effects, rows))
        return sum(b.predict(values) for b in self.boosters) / len(self.boosters)

    def predict(self, cases, rows):
        return self.trees(cases, rows) + self.near.predict(cases, rows)[0]


def left_out(cases, splits):
    """Predictions of every row by a fit without the rows that it is judged with."""
    predicted = numpy.full(len(cases), numpy.nan)
    for learn, judge in splits:
        learn = numpy.intersect1d(learn, cases.learnable)
        predicted[judge] = Residual(cases, learn).predict(cases, judge)
    return cases.summed(predicted)


def out_of_fold(cases):
    """Predictions of every row by a fit without its group."""
    return left_out(cases, folds(cases.group, HELD_OUT_FOLDS, 0))


def out_of_octave(cases):
    """Errors of every row by a fit without its octave; None where near runs don't count."""
    if cases.near_key is None or len(set(cases.octave[cases.learnable])) < 2:
        return None
    return cases.truth - left_out(cases, octaves(cases, numpy.arange(len(cases))))


def some(errors, rows):
    return None if errors is None else errors[rows]


class Width:
    """Half widths of 80% intervals, from the errors of predictions that left rows out: their group
    (`new_group`), and, where near runs count, their octave of rows (`new_size`)."""

    def __init__(self, cases, known, rows, new_group, new_size):
        """`known`: the rows that were learnt from, among them those with errors."""
        effects, nearest = numpy.zeros((len(cases), len(EFFECTS))), numpy.zeros(len(cases))
        effects[known] = honest_effects(cases, known)
        nearest[known] = honest_nearest(cases, known, folds(cases.group[known], 5, 1))
        self.effects = fit_effects(cases, known)
        self.near = NearRuns(cases, known, numpy.zeros(len(known)))
        nearest, errors = nearest[rows], new_group
        values = width_matrix(cases, rows, effects[rows], nearest)
        if new_size is not None:
            again = numpy.zeros(len(cases))
            again[known] = honest_nearest(cases, known, octaves(cases, known))
            again = again[rows]
            more = width_matrix(cases, rows, effect_values(cases, self.effects, rows), again)
            values, errors = numpy.vstack([values, more]), numpy.append(errors, new_size)
            nearest = numpy.append(nearest, again)
        absolute = numpy.abs(errors)
        self.booster = boost(values, absolute, None, WIDTH)
        # The fit saw these errors; what it says of groups it hasn't seen sets the scale.
        which = numpy.tile(rows, len(errors) // len(rows))
        ratio = numpy.full(len(errors), numpy.nan)
        for learn, judge in folds(cases.group[which], 4, 2):
            inner = boost(values[learn], absolute[learn], None, WIDTH)
            ratio[judge] = absolute[judge] / numpy.maximum(inner.predict(values[judge]), 0.01)
        self.scale = self.scales(cases, which, ratio, nearest, len(rows))

    @staticmethod
    def scales(cases, which, ratio, nearest, first):
        """By kind of case (WIDTH_KINDS) and bucket. Whoever asks for one kernel's time hasn't
        tuned: candidates that lost count, where there are any. Of new sizes of a layer only
        kernels that were timed near by are judged; fused operators by new layers alone."""
        kind, candidates = width_kind(cases, which, nearest), cases.exhaustive.any()
        asked = cases.exhaustive[which] if candidates else True
        asked = numpy.where(kind == FUSED, numpy.arange(len(which)) < first, asked)
        table = []
        for k in range(len(WIDTH_KINDS)):
            def scale(rows):
                return scale_of(ratio[rows], cases.group[which[rows]], candidates and k == FAR)
            own = asked & (kind == k)
            everywhere = scale(own) if own.any() else scale(numpy.full(len(which), True))
            table.append([])
            for b in range(len(BUCKET_EDGES) + 1):
                here = own & (cases.bucket[which] == b)
                pull = here.sum() / (here.sum() + 100)
                quantile = scale(here) if here.any() else everywhere
                table[-1].append(float(pull * quantile + (1 - pull) * everywhere))
        return numpy.array(table)

    def predict(self, cases, rows):
        nearest = self.near.predict(cases, rows)[1]
        values = width_matrix(cases, rows, effect_values(cases, self.effects, rows), nearest)
        raw = numpy.maximum(self.booster.predict(values), 0.01)
        return raw * self.scale[width_kind(cases, rows, nearest), cases.bucket[rows]]


WIDTH_KINDS = ["scale", "scale_near", "scale_fused"]
FAR, NEAR, FUSED = range(3)


def width_kind(cases, rows, nearest):
    """Few kernels of a family without candidates are far from all runs: no scale of their own."""
    near = (nearest >= NEAR_LIKENESS) & cases.exhaustive.any()
    single = numpy.where(near, NEAR, FAR)
    return numpy.where(cases.fused[rows], FUSED, single)


def scale_of(ratio, group, by_layer):
    """`by_layer`: few layers have candidates, one has two thirds of them; it may not hide what the
    others say."""
    everyone = numpy.quantile(ratio, 0.8)
    layers = pandas.Series(ratio).groupby(group)
    quantiles = layers.quantile(0.8)[layers.size() >= 20] if by_layer else []
    return max(everyone, quantiles.mean()) if len(quantiles) else everyone


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
    residual, rows = Residual(cases, cases.learnable), cases.own
    predicted = out_of_fold(cases)[rows]
    width = Width(cases, cases.learnable, rows, cases.truth[rows] - predicted,
                  some(out_of_octave(cases), rows))
    mape, median, by_group = score(cases, rows, predicted)
    scales = {kind: [short(s) for s in scale] for kind, scale in zip(WIDTH_KINDS, width.scale)}
    if cases.exhaustive.any():
        scales["near"] = NEAR_LIKENESS
    else:
        del scales[WIDTH_KINDS[NEAR]]
    return {
        "inputs": cases.inputs + [f"effect:{i}" for i in range(len(EFFECTS))] + ["nearest_run"],
        "effects": [{"of": of, "values": {k: short(v) for k, v in sorted(table.items())}}
                    for of, table in zip(EFFECTS, residual.effects)],
        "trees": flat_trees(residual.boosters, 1 / len(residual.boosters)),
        "width_trees": flat_trees([width.booster], 1),
        "width_by_rows": {"log_rows": BUCKET_EDGES} | scales,
        **({"near_runs": residual.near.json()} if residual.near.runs else {}),
        "generators": {k: int(v) for k, v in sorted(cases.table.generator.value_counts().items())},
        "unseen": unseen(cases),
        "errors": {"rows": len(cases.learnable), "doubtful": int((cases.table.doubtful != 0).sum()),
                   "cross_validation": {"mape": short(mape), "median": short(median),
                                        "by_group": short(by_group)}},
    }


def boosting_alone(cases):
    """What there is to beat: log(time) by boosting as its library sets it up, on the same folds, of
    each table by its own rows, from what a row tells and nothing of the model."""
    t = cases.table
    columns = {c: t[c] for c in cases.features if c != "second_share"}
    columns |= {c: t[c].fillna("").astype("category").cat.codes for c in ("dtype", "generator", "variant")}
    values = numpy.column_stack(list(columns.values())).astype(numpy.float32)
    log = cases.truth + numpy.log(cases.analytic)
    own = ~t.duplicated(["file", "row"]).to_numpy()
    predicted = numpy.full(len(t), numpy.nan)
    settings = {k: COMMON[k] for k in ("verbose", "num_threads", "deterministic", "force_col_wise", "seed")}
    for learn, judge in folds(cases.group, HELD_OUT_FOLDS, 0):
        for file in t.file.unique():
            here = own & (t.file == file).to_numpy()
            known = numpy.intersect1d(learn[here[learn]], cases.learnable)
            asked = judge[here[judge]]
            if len(known) and len(asked):
                booster = lightgbm.train(settings, lightgbm.Dataset(values[known], log[known]), 100)
                predicted[asked] = booster.predict(values[asked])
    return predicted


def cross_family(cases):
    """Every row by fits that left its group out, also those that judge how wide intervals are."""
    predicted = out_of_fold(cases)
    errors, of_octave = cases.truth - predicted, out_of_octave(cases)
    width = numpy.full(len(cases), numpy.nan)
    for learn, judge in folds(cases.group, 5, 3):
        known, rows = numpy.intersect1d(learn, cases.learnable), numpy.intersect1d(learn, cases.own)
        width[judge] = Width(cases, known, rows, errors[rows],
                             some(of_octave, rows)).predict(cases, judge)
    return predictions(cases, numpy.arange(len(cases)), predicted, width, boosting_alone(cases))


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
    log = numpy.full(len(cases), numpy.nan)
    log[judge] = Residual(cases, learn).predict(cases, judge)
    log = cases.summed(log)[judge]
    width = Width(known, known.learnable, known.own, errors[known.own],
                  some(out_of_octave(known), known.own)).predict(cases, judge)
    generators = set(known.table.generator)
    new = ~cases.table.generator.iloc[judge].isin(generators).to_numpy()
    general = unseen(known)
    if column == "dtype":
        width = numpy.maximum(width, general["new_type_half_width"])
    return predictions(cases, judge, numpy.where(new, general["any"]["log"], log),
                       numpy.where(new, general["any"]["half_width"], width))


def predictions(cases, rows, log, half_width, boosted=numpy.nan):
    return pandas.DataFrame({"line": cases.table.line.to_numpy()[rows], "log": log,
                             "half_width": numpy.clip(half_width, 0.01, 1.5), "boosted": boosted})


def read(path):
    table = pandas.read_csv(path, low_memory=False)
    table.insert(0, "line", numpy.arange(len(table)))
    timed = table.measured_us.notna() | table.duplicated(["file", "row"])  # or a timed row's kernel
    # A wrong result is no legal pick, but the kernel did take that time.
    honest = table["flags"].isna() | (table["flags"] == "wrong_result")
    usable = timed & table.analytic_us.notna() & honest & ~table.split.isin(["test"])
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
