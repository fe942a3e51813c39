"""Printed figures of the book on spectral feature selection (examples, and chapter 4).

Figures are strings, so that the last printed digit is known. Columns are data sets, their mean, and
the number of sets on which a method wins. The faces of ORL and PIE come in other sizes today.
"""

from __future__ import annotations

from tests.reference.printed import table

__all__ = [
    "EXAMPLES",
    "TABLE_4_2",
    "TABLE_4_3",
    "TABLE_4_3_P",
    "TABLE_4_4",
    "TABLE_4_4_P",
    "TABLE_4_5",
    "TABLE_4_6_1",
    "TABLE_4_6_5",
    "TABLE_4_7",
    "TABLE_4_8",
]

EXAMPLES = {
    "1: accuracy": "0.99",
    "1: accuracy, 500 irrelevant features": "0.52",
    "14: tr(SS)": "1.282",
    "14: tr(KS), 90% noise": "0.7994",
}
"""What the text says of examples 1 and 14."""

TABLE_4_2 = table("""
set,features,samples,classes
PIE,2400,210,10
ORL,10000,100,10
TOX,5748,171,4
CLL-SUB,11340,111,3
""")
"""Sizes of the data sets."""

TABLE_4_3 = table("""
method,ORL,PIE,TOX,CLL-SUB,AVE,WIN
ReliefF,0.83,0.94,0.77,0.67,0.80,0
Fisher,0.80,0.93,0.72,0.54,0.75,0
Trace Ratio,0.80,0.93,0.72,0.54,0.75,0
HSIC,0.80,0.94,0.73,0.55,0.75,0
mRMR,0.73,0.95,0.70,0.64,0.75,0
AROM-SVM,0.78,0.94,0.64,0.57,0.73,0
MCSF,0.90,0.95,0.74,0.69,0.82,0
MRSF,0.91,0.98,0.79,0.71,0.85,4
""")
"""Accuracy of a linear support vector machine: mean over 10, 20, ..., 200 features, 20 splits."""

TABLE_4_3_P = table("""
method,ORL,PIE,TOX,CLL-SUB
ReliefF,0.00,0.00,0.03,0.00
Fisher,0.00,0.00,0.00,0.00
Trace Ratio,0.00,0.00,0.00,0.00
HSIC,0.00,0.00,0.00,0.00
mRMR,0.00,0.00,0.00,0.00
AROM-SVM,0.00,0.02,0.00,0.00
MCSF,0.05,0.00,0.00,0.34
MRSF,1.00,1.00,1.00,1.00
""")
"""p values of the t-test against the best of table 4.3."""

TABLE_4_4 = table("""
method,ORL,PIE,TOX,CLL-SUB,AVE,WIN
ReliefF,0.92,0.36,0.34,0.59,0.55,0
Fisher,0.79,0.37,0.56,0.76,0.62,0
Trace Ratio,0.79,0.37,0.56,0.76,0.62,0
HSIC,0.79,0.37,0.56,0.76,0.62,0
mRMR,0.25,0.29,0.26,0.26,0.26,0
AROM-SVM,0.25,0.32,0.15,0.59,0.33,1
MCSF,0.26,0.24,0.30,0.44,0.31,0
MRSF,0.25,0.24,0.16,0.21,0.21,3
""")
"""Redundancy rate of as many features as samples, chosen with classes: mean correlation of pairs
(the printed formula has half of it)."""

TABLE_4_4_P = table("""
method,ORL,PIE,TOX,CLL-SUB
ReliefF,0.00,0.00,0.00,0.00
Fisher,0.00,0.00,0.00,0.00
Trace Ratio,0.00,0.00,0.00,0.00
HSIC,0.00,0.00,0.00,0.00
mRMR,0.29,0.00,0.00,0.00
AROM-SVM,0.44,0.00,1.00,0.00
MCSF,0.00,0.48,0.00,0.00
MRSF,1.00,1.00,0.00,1.00
""")
"""p values of the t-test against the best of table 4.4."""

TABLE_4_5 = table("""
method,ORL,PIE,TOX,CLL-SUB,AVE,WIN
Laplacian,112.80,208.97,178.69,127.67,157.03,0
SPEC-1,112.79,220.42,179.21,126.65,159.77,0
SPEC-3,122.51,201.25,176.15,120.74,155.16,0
Trace Ratio,112.79,200.68,179.30,119.70,153.12,0
HSIC,112.79,200.64,179.24,119.79,153.12,0
MCSF,91.03,183.04,166.23,107.25,136.89,4
MRSF,91.19,187.05,167.07,108.96,138.57,0
""")
"""Residue of as many features as samples, chosen without classes: the norm, though its square is
printed in the formula."""

TABLE_4_6_1 = table("""
method,ORL,PIE,TOX,CLL-SUB,AVE,WIN
Laplacian,0.04,0.02,0.08,0.03,0.04,0
SPEC-1,0.04,0.03,0.09,0.02,0.05,0
SPEC-3,0.02,0.06,0.09,0.05,0.05,0
Trace Ratio,0.06,0.04,0.13,0.06,0.07,0
HSIC,0.06,0.04,0.13,0.03,0.06,0
MCSF,0.53,0.26,0.50,0.19,0.37,2
MRSF,0.60,0.35,0.35,0.19,0.37,3
""")
"""Share of common nearest neighbours (Jaccard), one neighbour."""

TABLE_4_6_5 = table("""
method,ORL,PIE,TOX,CLL-SUB,AVE,WIN
Laplacian,0.09,0.05,0.14,0.09,0.09,0
SPEC-1,0.09,0.05,0.14,0.11,0.10,0
SPEC-3,0.13,0.07,0.16,0.12,0.12,0
Trace Ratio,0.08,0.07,0.15,0.12,0.11,0
HSIC,0.08,0.07,0.15,0.13,0.11,0
MCSF,0.72,0.27,0.47,0.23,0.42,3
MRSF,0.70,0.44,0.35,0.22,0.43,1
""")
"""The same, five neighbours."""

TABLE_4_7 = table("""
method,residue,Jaccard 1,Jaccard 5
MCSF,136.89,0.37,0.42
MRSF_W,91.45,0.63,0.53
""")
"""Means over the four sets, with the coefficients W of MRSF."""

TABLE_4_8 = table("""
method,ORL,PIE,TOX,CLL-SUB,AVE,WIN
Laplacian,0.86,0.75,0.46,0.65,0.68,0
SPEC-1,0.86,0.83,0.47,0.64,0.70,0
SPEC-3,0.90,0.68,0.41,0.51,0.63,0
Trace Ratio,0.86,0.70,0.48,0.58,0.65,0
HSIC,0.86,0.70,0.48,0.58,0.65,0
MCSF,0.28,0.38,0.16,0.15,0.24,3
MRSF,0.28,0.26,0.22,0.29,0.26,2
""")
"""Redundancy rate as in table 4.4, chosen without classes."""
