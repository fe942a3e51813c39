"""Printed figures of the second dissertation about outliers (chapters 4 and 5).

Figures are strings, so that the last printed digit is known; empty where the print has a dash.
Errors are squared distances: averaged over the kept points (tables 4.1, 5.2 and 5.3), or divided by
the squared norm of all points (table 4.2).
"""

from __future__ import annotations

import numpy as np

from tests.reference.printed import table

__all__ = [
    "FIGURE_5_1",
    "FIGURE_5_3",
    "TABLE_4_1",
    "TABLE_4_2",
    "TABLE_5_1",
    "TABLE_5_3",
    "TOYS",
]

TABLE_4_1 = table("""
r,k,error
2,0,15.438
2,1,15.133
2,2,14.845
2,4,14.213
2,6,13.580
2,8,12.836
3,0,13.217
3,1,12.828
3,2,12.455
3,4,11.736
3,6,10.982
3,8,10.081
""")
"""The 27 complete samples of lung-cancer as points, label included, uncentred; the caption
exchanges m and n."""

TABLE_4_2 = table("""
set,k,r,optimal,2,5,10,pursuit,leverage,s optimal,s 2,s 5,s 10,s pursuit,s leverage
vehicle,5,2,5.790e-4,5.910e-4,5.812e-4,5.790e-4,8.098e-4,8.230e-4,1.01,0.22,0.22,0.22,0.65,0.01
vehicle,5,3,3.121e-4,3.442e-4,3.493e-4,3.493e-4,5.604e-4,5.871e-4,0.69,0.22,0.22,0.22,0.64,0.01
vehicle,10,2,1.227e-4,1.227e-4,1.227e-4,1.227e-4,2.602e-4,4.138e-4,30.83,0.34,0.23,0.23,0.65,0.01
vehicle,10,3,5.820e-5,5.820e-5,5.820e-5,5.820e-5,1.332e-4,2.506e-4,20.91,0.24,0.23,0.23,0.65,0.01
vehicle,5,5,9.842e-5,9.842e-5,9.842e-5,9.842e-5,2.379e-4,2.509e-4,0.36,0.21,0.22,0.22,0.64,0.01
vehicle,10,5,8.550e-6,8.735e-6,8.735e-6,8.735e-6,4.898e-5,7.723e-5,9.07,0.22,0.22,0.22,0.65,0.01
spectf,3,2,1.042e-2,1.042e-2,1.042e-2,1.042e-2,1.042e-2,1.125e-2,2.33,0.53,0.26,0.25,0.64,0.01
spectf,4,2,9.996e-3,9.996e-3,9.996e-3,9.996e-3,1.013e-2,1.096e-2,84.01,0.77,0.26,0.26,0.66,0.01
spectf,10,3,,6.128e-3,6.113e-3,6.113e-3,6.171e-3,7.340e-3,,0.31,0.28,0.29,0.65,0.01
spectf,15,3,,4.768e-3,4.768e-3,4.768e-3,4.806e-3,6.201e-3,,0.31,0.30,0.31,0.65,0.01
spectf,15,10,,1.734e-3,1.734e-3,1.713e-3,1.841e-3,2.239e-3,,0.32,0.32,0.33,0.65,0.01
spectf,20,10,,1.125e-3,1.116e-3,1.116e-3,1.150e-3,1.626e-3,,0.34,0.34,0.34,0.64,0.01
libras,4,3,,,4.011e-2,4.011e-2,4.166e-2,4.292e-2,,,93.76,0.83,6.16,0.01
libras,10,3,,,3.189e-2,3.189e-2,3.550e-2,3.995e-2,,,1.28,0.92,6.27,0.01
libras,10,4,,,2.033e-2,2.033e-2,2.198e-2,2.411e-2,,,47.23,0.92,6.22,0.01
libras,15,4,,,,1.770e-2,2.009e-2,2.150e-2,,,,1.02,6.24,0.01
libras,15,10,,,1.471e-3,1.471e-3,1.769e-3,2.390e-3,,,1.06,0.98,6.18,0.01
libras,20,10,,,1.060e-3,1.060e-3,1.469e-3,2.166e-3,,,1.11,1.11,6.51,0.01
""")
"""Columns of the data are the points, uncentred; spectf with its label. Seconds in "s ..."; the
numbers are the epsilon of the sub-optimal searches. A dash stands for more than 100 s."""

TABLE_5_1 = table("""
method,bias,Tall-L,Short-L,Trapezoid
EU,no,1 2 4 ok,1 4 5 wrong,1 5 wrong
EU,yes,1 2 3 ok,1 2 3 ok,6 7 ok
EC,no,1 2 3 ok,1 2 3 ok,6 7 ok
IU,no,1 2 4 wrong,1 4 5 wrong,1 5 wrong
IU,yes,1 2 3 ok,1 4 5 wrong,1 5 wrong
IC,no,1 2 3 ok,1 4 5 wrong,1 5 wrong
HR-PCA,no,4 16 18 wrong,1 6 8 wrong,6 7 ok
HR-PCA,yes,2 17 18 wrong,3 6 7 wrong,3 7 wrong
CoP,no,1 9 10 wrong,1 4 5 wrong,1 5 wrong
CoP,yes,1 2 4 ok,1 4 8 wrong,1 5 wrong
Outlier Pursuit,no,1 2 ok,1 wrong,none wrong
Outlier Pursuit,yes,1 2 3 ok,1 4 8 wrong,1 5 6 7 ok
ROBPCA,no,1 2 3 ok,1 2 ok,6 7 ok
""")
"""Points counted from 1. "ok" stands for optimal or nearly so: the two ticks look alike."""

TOYS: dict[str, tuple[int, ...]] = {
    "Tall-L": (1, 2, 3),
    "Short-L": (1, 2, 3),
    "Trapezoid": (6, 7),
}
"""The true outliers of table 5.1, counted from 1."""

TABLE_5_3 = table("""
set,k,r,COPT,HR-PCA,HR-PCA bias,CoP,CoP bias,Outlier Pursuit,Outlier Pursuit bias,ROBPCA
iris,11,1,0.2581,0.3393,0.3461,0.3108,0.2585,0.2777,0.3407,0.2581
wine,13,2,12.9881,17.2651,16.6891,15.7866,13.0729,17.8383,17.6753,13.6969
glass,7,4,0.2026,0.3173,0.3237,0.1444,0.1861,0.1550,0.1550,0.2537
wdbc raw,25,3,73.3576,95.6762,99.9206,94.8265,74.9326,80.9527,81.3805,90.7395
ionosphere,8,3,3.9871,4.4468,4.4506,4.2332,3.9871,3.9956,3.9956,4.2453
""")
"""Tables 5.2 and 5.3 together: samples are the points, average error about the kept mean."""

FIGURE_5_1 = np.array([[7, 3], [7, 2], [7, 1], [8, 3], [8, 2], [8, 1], [1, 4]], dtype=np.float64)
"""Seven points; the last is the outlier."""

FIGURE_5_3 = {
    "X": np.array([[1.0, 3.0], [2.0, 0.0], [3.0, 0.0]]),
    "bias": 100.0,
    "centred axes": np.array([[-0.4718, 0.8816], [-0.8816, -0.4718]]),
    "centred eigenvalues": np.array([7.6055, 0.3944]),
    "biased axes": np.array(
        [[0.0199, 0.0099, 0.9997], [-0.4718, 0.8816, 0.0006], [-0.8814, -0.4717, 0.0223]]
    ),
    "biased eigenvalues": np.array([30015.0, 7.6055, 0.3942]),
}
"""Rows are points and axes, unlike the print; entries are cut to the digits given, and axes are
known up to sign."""
