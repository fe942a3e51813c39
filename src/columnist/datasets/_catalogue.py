"""What is known of every set: where it comes from, its shape, and how to read its files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from pathlib import Path

from columnist.datasets._files import DataFile, data_files
from columnist.datasets._sources import (
    Source,
    read_arff,
    read_day_labels,
    read_days,
    read_diagnoses,
    read_mat,
    read_npy,
    read_npz,
    read_patients,
    read_persons,
    read_pixels,
    read_train_and_test,
    read_usps,
    read_usps_labels,
    read_words,
)
from columnist.io._arff import Attribute, read_attributes

__all__ = ["CATALOGUE", "ORIGINS", "Dataset", "Origin", "find_dataset"]


@dataclass(frozen=True)
class Origin:
    """Where sets come from, what to cite and what is known of their licence."""

    name: str
    citation: str
    licence: str


UCI = Origin(
    "UCI Machine Learning Repository",
    "the UCI Machine Learning Repository and the donors named on the page of the set",
    "The archive offers most of its sets under CC BY 4.0 today; see the page of the set.",
)
NIPS = Origin(
    "UCI Machine Learning Repository, from the NIPS 2003 feature selection challenge",
    "I. Guyon, S. Gunn, A. Ben-Hur, G. Dror: Result analysis of the NIPS 2003 feature selection "
    "challenge, NIPS 17, 2004",
    UCI.licence,
)
MULAN = Origin(
    "Mulan, multi-label sets",
    "G. Tsoumakas, E. Spyromitros-Xioufis, J. Vilcek, I. Vlahavas: Mulan: a Java library for "
    "multi-label learning, JMLR 12, 2011",
    "No licence of the data is known to us: ask before you redistribute them.",
)
MULTI_TARGET = Origin(
    "Mulan, multi-target regression sets",
    "E. Spyromitros-Xioufis, G. Tsoumakas, W. Groves, I. Vlahavas: Multi-target regression via "
    "input space expansion, Machine Learning 104, 2016",
    MULAN.licence,
)
ASU = Origin(
    "feature selection repository of Arizona State University (scikit-feature)",
    "J. Li and others: Feature selection: a data perspective, ACM Computing Surveys 50, 2017",
    "The programs there are under GPL 2; no licence of the data is known to us.",
)
FACES = Origin(
    ASU.name,
    ASU.citation,
    "Pictures of persons, released for research: ask before you redistribute them.",
)
OLIVETTI = Origin(
    "AT&T Laboratories Cambridge (Olivetti, ORL)",
    "F. Samaria, A. Harter: Parameterisation of a stochastic model for human face "
    "identification, WACV 1994",
    FACES.licence,
)
YALE = Origin(
    "Yale face database",
    "P. Belhumeur, J. Hespanha, D. Kriegman: Eigenfaces vs. Fisherfaces, IEEE PAMI 19, 1997",
    FACES.licence,
)
YALE_B = Origin(
    "extended Yale face database B",
    "A. Georghiades, P. Belhumeur, D. Kriegman: From few to many, IEEE PAMI 23, 2001",
    FACES.licence,
)
USPS = Origin(
    "United States Postal Service",
    "J. Hull: A database for handwritten text recognition research, IEEE PAMI 16, 1994",
    "No licence of the data is known to us: ask before you redistribute them.",
)
ORIGINS = (UCI, NIPS, MULAN, MULTI_TARGET, ASU, FACES, OLIVETTI, YALE, YALE_B, USPS)

KINDS = {
    "classes": "{} classes",
    "labels": "{} labels, several at once",
    "targets": "{} numbers to predict",
}


@dataclass(frozen=True)
class Dataset:
    """Facts about a set, and how to read it.

    ``kind`` tells what ``n_targets`` counts: ``"classes"`` of one label, ``"labels"`` of which
    several may apply, or ``"targets"``, numbers to predict.
    """

    name: str
    title: str
    kind: str
    n_samples: int
    n_features: int
    n_targets: int
    origin: Origin
    data: Source
    target: Source
    note: str = ""
    images: tuple[int, int] | None = None
    feature_names: tuple[str, ...] = ()
    class_names: tuple[str, ...] = ()

    @property
    def function(self) -> str:
        """Name of the function that fetches this set."""
        return "fetch_" + self.name.replace("-", "_")

    @property
    def files(self) -> list[DataFile]:
        """All files of the set."""
        folder = Path(self.data.path).parent.as_posix()
        found = data_files()
        return [file for path, file in found.items() if path.startswith(f"{folder}/")]

    @property
    def needed(self) -> list[DataFile]:
        """The files that are read."""
        found = data_files()
        if self.data.read in (read_days, read_train_and_test):
            kind = Path(self.data.path).name.split(".", 1)[1]
            return [file for file in self.files if file.path.endswith(kind)]
        return [found[path] for path in dict.fromkeys((self.data.path, self.target.path))]

    def head(self, folder: Path) -> list[Attribute]:
        """Names of all columns of the file, if it has any."""
        if self.data.read not in (read_arff, read_train_and_test):
            return []
        return read_attributes(folder / self.data.path)

    @property
    def description(self) -> str:
        """All this in words."""
        lines = [
            f"{self.title} ({self.name})",
            "",
            f"{self.n_samples} samples, {self.n_features} features, "
            + KINDS[self.kind].format(self.n_targets)
            + ".",
            *([self.note] if self.note else []),
            *(
                [f"Images of {self.images[0]} x {self.images[1]} pixels, row by row."]
                if self.images
                else []
            ),
            f"Source: {self.origin.name}.",
            f"Cite: {self.origin.citation}.",
            f"Licence: {self.origin.licence}",
            f"Files: {', '.join(file.path for file in self.files)}.",
        ]
        return "\n".join(lines)


def arff_set(
    path: str, title: str, kind: str, shape: tuple[int, int, int], origin: Origin, note: str = ""
) -> Dataset:
    """An ARFF file with its targets last: one column of classes, or one column each."""
    n = 1 if kind == "classes" else shape[2]
    read = read_train_and_test if "-train" in path else read_arff
    sources = Source(path, read, last=-n), Source(path, read, first=-n)
    return Dataset(path.split("/")[0], title, kind, *shape, origin, *sources, note)


def mat_set(
    path: str,
    title: str,
    shape: tuple[int, int, int],
    origin: Origin = ASU,
    note: str = "",
    *,
    name: str | None = None,
    images: tuple[int, int] | None = None,
) -> Dataset:
    """A MATLAB file with classes; pixels of images stand there column by column."""
    read: Callable = partial(read_pixels, shape=images) if images else read_mat
    sources = Source(path, read), Source(path, read_persons)
    return Dataset(
        name or path.split("/")[0], title, "classes", *shape, origin, *sources, note, images
    )


_CELLS = (
    *("radius", "texture", "perimeter", "area", "smoothness", "compactness", "concavity"),
    *("concave points", "symmetry", "fractal dimension"),
)
_WDBC_NAMES = (
    *(f"mean {name}" for name in _CELLS),
    *(f"{name} error" for name in _CELLS),
    *(f"worst {name}" for name in _CELLS),
)
_DISCRETE = "The values were discretised to -2, 0 and 2 by the repository."
_NOMINAL = "The features are names, read as their places in the list of names."
_TRAIN_FIRST = "The first {} samples are the training samples of the challenge."
_WORDS = "Counts of words, {} % of them not zero."

_UCI_SETS = (
    arff_set("vehicle/vehicle.arff", "Vehicle silhouettes (Statlog)", "classes", (846, 18, 4), UCI),
    Dataset(
        "spectf",
        "SPECTF heart",
        "classes",
        *(267, 44, 2),
        UCI,
        Source("spectf/spectf.csv", last=-1),
        Source("spectf/spectf.csv", first=-1),
        "The first 80 samples are the training samples. The label is last here and first at "
        "UCI; a version with 349 samples, which circulates too, is another one.",
    ),
    Dataset(
        "libras",
        "Libras movement",
        "classes",
        *(360, 90, 15),
        UCI,
        Source("libras/movement_libras.data.gz", last=-1),
        Source("libras/movement_libras.data.gz", first=-1),
    ),
    mat_set("madelon/madelon.mat", "Madelon", (2600, 500, 2), NIPS, _TRAIN_FIRST.format("2000")),
    Dataset(
        "isolet5",
        "Spoken letters, fifth part of ISOLET",
        "classes",
        *(1559, 617, 26),
        UCI,
        Source("isolet5/isolet5.data.gz", last=-1),
        Source("isolet5/isolet5.data.gz", first=-1),
    ),
    mat_set(
        "isolet/Isolet.mat",
        "Spoken letters, the part of ISOLET used for feature selection",
        (1560, 617, 26),
        note="Not the part called isolet5.",
    ),
    Dataset(
        "cnae-9",
        "Descriptions of companies (CNAE-9)",
        "classes",
        *(1080, 856, 9),
        UCI,
        Source("cnae-9/cnae-9.csv.gz", read_words, last=-1),
        Source("cnae-9/cnae-9.csv.gz", read_words, first=-1),
        "Counts of words, 99 % of them zero. The label is last here and first at UCI.",
    ),
    mat_set("arcene/arcene.mat", "Arcene", (200, 10000, 2), NIPS, _TRAIN_FIRST.format("100")),
    Dataset(
        "lung-cancer",
        "Lung cancer",
        "classes",
        *(32, 56, 3),
        UCI,
        Source("lung-cancer/lung-cancer.data", first=1),
        Source("lung-cancer/lung-cancer.data", last=1),
        "Five values are missing (nan). Codes from 0 to 3 stand for names.",
    ),
    arff_set(
        "iris/iris.arff",
        "Iris",
        "classes",
        (150, 4, 3),
        UCI,
        "As at UCI: three values differ from scikit-learn's, which follow the original paper.",
    ),
    Dataset(
        "wine",
        "Wine",
        "classes",
        *(178, 13, 3),
        UCI,
        Source("wine/wine.arff", read_arff, first=1),
        Source("wine/wine.arff", read_arff, last=1),
        "The same values as scikit-learn's.",
    ),
    arff_set(
        "glass/glass.arff",
        "Glass identification",
        "classes",
        (214, 9, 6),
        UCI,
        "The number of the sample is left out, and the order is not that of UCI.",
    ),
    Dataset(
        "wdbc",
        "Breast cancer Wisconsin (diagnostic)",
        "classes",
        *(569, 30, 2),
        UCI,
        Source("wdbc/wdbc.data", read_patients),
        Source("wdbc/wdbc.data", read_diagnoses),
        "The same values and classes as scikit-learn's.",
        feature_names=_WDBC_NAMES,
        class_names=("malignant", "benign"),
    ),
    arff_set(
        "ionosphere/ionosphere.arff",
        "Ionosphere",
        "classes",
        (351, 34, 2),
        UCI,
        "The second feature is constant.",
    ),
    Dataset(
        "url-mini",
        "URL reputation, extract of six days",
        "classes",
        *(1200, 3231961, 2),
        UCI,
        Source("url-mini/Day0_mini.svm", read_days),
        Source("url-mini/Day0_mini.svm", read_day_labels),
        "Sparse. 200 samples a day; how they were chosen from the 20,000 of a day is not known.",
    ),
    Dataset(
        "farm-ads",
        "Farm advertisements",
        "classes",
        *(4143, 54877, 2),
        UCI,
        Source("farm-ads/X_raw.npz", read_npz),
        Source("farm-ads/y_raw.npy", read_npy),
        "Sparse and binary. The labels -1 and 1 of UCI are 0 and 1 here.",
    ),
)

_MULAN_SETS = (
    arff_set("emotions/emotions.arff.gz", "Emotions in music", "labels", (593, 72, 6), MULAN),
    arff_set(
        "scene/scene-train.arff.gz",
        "Scenes in pictures",
        "labels",
        (2407, 294, 6),
        MULAN,
        "The first 1211 samples are the training samples.",
    ),
    arff_set("yeast/yeast.arff.gz", "Functions of yeast genes", "labels", (2417, 103, 14), MULAN),
    arff_set("medical/medical.arff", "Medical texts", "labels", (978, 1449, 45), MULAN, "Sparse."),
    arff_set("enron/enron.arff.gz", "Enron mails", "labels", (1702, 1001, 53), MULAN, "Sparse."),
    arff_set("cal500/cal500.arff.gz", "Descriptions of songs", "labels", (502, 68, 174), MULAN),
    *(
        arff_set(path, title, "targets", shape, MULTI_TARGET, note)
        for path, title, shape, note in (
            ("wq/wq.arff.gz", "Water quality", (1060, 16, 14), "Abundances of taxa: 0, 1, 3, 5."),
            ("oes97/oes97.arff.gz", "Occupations in cities, 1997", (334, 263, 16), ""),
            ("oes10/oes10.arff.gz", "Occupations in cities, 2010", (403, 298, 16), ""),
            ("rf1/rf1.arff.gz", "River flow", (9125, 64, 8), "3264 values are missing (nan)."),
            ("edm/edm.arff", "Electrical discharge machining", (154, 16, 2), ""),
            ("jura/jura.arff", "Metals in the soil of the Jura", (359, 15, 3), ""),
            ("slump/slump.arff", "Concrete slump", (103, 7, 3), ""),
            ("andro/andro.arff", "Water quality in a gulf", (49, 30, 6), ""),
            ("atp1d/atp1d.arff.gz", "Airline ticket prices, next day", (337, 411, 6), ""),
            ("atp7d/atp7d.arff.gz", "Airline ticket prices, next week", (296, 411, 6), ""),
            ("enb/enb.arff", "Energy of buildings", (768, 8, 2), ""),
            (
                "osales/osales.arff.gz",
                "Online sales",
                (639, 401, 12),
                "10012 values are missing (nan).",
            ),
            (
                "scpf/scpf.arff",
                "Requests of citizens (See Click Predict Fix)",
                (1137, 23, 3),
                "9255 values are missing (nan).",
            ),
            ("sf1/sf1.arff", "Solar flares, 1969", (323, 10, 3), _NOMINAL),
            ("sf2/sf2.arff", "Solar flares, 1978", (1066, 10, 3), _NOMINAL),
        )
    ),
)

_ASU_SETS = (
    mat_set("tox-171/TOX-171.mat", "Toxicity, gene expression", (171, 5748, 4)),
    mat_set("warpar10p/warpAR10P.mat", "AR faces", (130, 2400, 10), FACES, images=(60, 40)),
    mat_set("warppie10p/warpPIE10P.mat", "PIE faces", (210, 2420, 10), FACES, images=(55, 44)),
    mat_set("pixraw10p/pixraw10P.mat", "PIX faces", (100, 10000, 10), FACES, images=(100, 100)),
    mat_set("orlraws10p/orlraws10P.mat", "ORL faces", (100, 10304, 10), FACES, images=(112, 92)),
    mat_set(
        "basehock/BASEHOCK.mat",
        "Newsgroups: baseball or hockey",
        (1993, 4862, 2),
        note=_WORDS.format("1.4"),
    ),
    mat_set(
        "relathe/RELATHE.mat",
        "Newsgroups: religion or atheism",
        (1427, 4322, 2),
        note=_WORDS.format("2.0"),
    ),
    mat_set("pcmac/PCMAC.mat", "Newsgroups: PC or Mac", (1943, 3289, 2), note=_WORDS.format("1.5")),
    mat_set("coil20/COIL20.mat", "Objects on a turntable", (1440, 1024, 20), images=(32, 32)),
    mat_set("orl/ORL.mat", "ORL faces, small", (400, 1024, 40), OLIVETTI, images=(32, 32)),
    mat_set("yale/Yale_64x64.mat", "Yale faces", (165, 4096, 15), YALE, images=(64, 64)),
    mat_set(
        "yale/Yale.mat",
        "Yale faces, small",
        (165, 1024, 15),
        YALE,
        name="yale32",
        images=(32, 32),
    ),
    Dataset(
        "usps",
        "Handwritten digits",
        "classes",
        *(9298, 256, 10),
        USPS,
        Source("usps/usps.mat", read_usps),
        Source("usps/usps.mat", read_usps_labels),
        "The first 7291 samples are the training samples. Label 10 is the digit 0.",
    ),
    mat_set("colon/colon.mat", "Colon cancer, gene expression", (62, 2000, 2), note=_DISCRETE),
    mat_set("leukemia/leukemia.mat", "Leukemia, gene expression", (72, 7070, 2), note=_DISCRETE),
    mat_set("lymphoma/lymphoma.mat", "Lymphoma, gene expression", (96, 4026, 9), note=_DISCRETE),
    mat_set("nci9/nci9.mat", "Tumours (NCI), gene expression", (60, 9712, 9), note=_DISCRETE),
    mat_set(
        "lung_small/lung_small.mat",
        "Lung cancer, gene expression",
        (73, 325, 7),
        note=f"{_DISCRETE} Also called lung_discrete.",
    ),
    mat_set("allaml/ALLAML.mat", "Leukemia (ALL and AML), gene expression", (72, 7129, 2)),
    mat_set("glioma/GLIOMA.mat", "Glioma, gene expression", (50, 4434, 4)),
    mat_set("prostate-ge/Prostate-GE.mat", "Prostate cancer, gene expression", (102, 5966, 2)),
    mat_set("olivetti/ORL_64x64.mat", "Olivetti faces", (400, 4096, 40), OLIVETTI, images=(64, 64)),
    mat_set(
        "yaleb/YaleB_32x32_ori.mat",
        "Yale faces in many lights",
        (2414, 1024, 38),
        YALE_B,
        images=(32, 32),
    ),
)

CATALOGUE: dict[str, Dataset] = {
    dataset.name: dataset for dataset in (*_UCI_SETS, *_MULAN_SETS, *_ASU_SETS)
}


def find_dataset(name: str) -> Dataset:
    """The set of a name; ``-`` and ``_``, capitals and small letters count as the same."""
    plain = {known.replace("-", "_"): known for known in CATALOGUE}
    asked = str(name).lower().replace("-", "_").removeprefix("fetch_")
    if asked in plain:
        return CATALOGUE[plain[asked]]
    close = [plain[match] for match in get_close_matches(asked, plain, n=3)]
    hint = f"did you mean {' or '.join(map(repr, close))}?" if close else "list_datasets() has all."
    raise ValueError(f"There is no data set {name!r}: {hint}")
