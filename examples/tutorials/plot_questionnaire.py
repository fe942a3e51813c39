"""
Shorten a questionnaire
=======================

A questionnaire has 25 questions, and you may ask only ten of them. Which ten preserve most of the
information in all 25 answers? This tutorial selects them, shows how good the selection is, checks
it on other respondents, and ends with the command that writes a report. It takes ten minutes.
"""

# %%
# The answers
# -----------
# The data are generated in the form of a common personality questionnaire: five traits, five
# questions each, answers from 1 (strongly disagree) to 5 (strongly agree). Some questions are
# worded negatively. With data of your own, ``pandas.read_csv`` replaces this block; leave out
# columns that are not answers, such as an identifier of the respondent.

import numpy as np
import pandas as pd

TRAITS = {
    "anxious": "worries gets_upset mood_swings stays_relaxed feels_blue",
    "outgoing": "talkative starts_conversations keeps_quiet likes_parties avoids_attention",
    "kind": "feels_for_others helps_others insults_people puts_at_ease takes_time",
    "orderly": "makes_plans leaves_a_mess does_chores likes_order forgets_things",
    "curious": "likes_ideas imaginative avoids_hard_books reflects rich_vocabulary",
}
questions = [question for text in TRAITS.values() for question in text.split()]
negative = {
    "stays_relaxed",
    "keeps_quiet",
    "avoids_attention",
    "insults_people",
    "leaves_a_mess",
    "forgets_things",
    "avoids_hard_books",
}

rng = np.random.default_rng(0)
strength = rng.uniform(0.6, 1.4, 25) * [-1 if name in negative else 1 for name in questions]


def respondents(n: int) -> pd.DataFrame:
    """Answers of n people."""
    traits = rng.standard_normal((n, 5)) @ np.linalg.cholesky(0.8 * np.eye(5) + 0.2).T
    opinions = np.repeat(traits, 5, axis=1) * strength + rng.standard_normal((n, 25))
    return pd.DataFrame(np.clip(np.round(3 + 0.9 * opinions), 1, 5), columns=questions)


answers = respondents(800)
answers.iloc[:3, :6]

# %%
# How many questions?
# -------------------
# :func:`~columnist.selection_path` finds the best selection of every size. Two decisions come
# first.
#
# * *Centring.* ``centering="mean"`` compares answers with the mean of their question. Without it,
#   a question to which everybody gives the same answer would look important.
# * *Scaling.* All answers share one scale from 1 to 5, so the columns are not scaled. For questions
#   with different ranges, standardise the columns first.

from columnist import selection_path

path = selection_path(answers, 15, centering="mean", time_limit=20)
path

# %%
# The column ``relative`` is the share of the variance that the selected questions do not explain.
# The status ``optimal`` means that no other selection of that size has a smaller error.

import matplotlib.pyplot as plt

from columnist.plotting import ErrorPathDisplay, RepresentativeDisplay

ErrorPathDisplay.from_path(path)
plt.show()

# %%
# The curve bends at five questions, one for each trait, and then falls steadily, so it does not
# determine the number of questions. Here we decide on ten.
#
# The ten questions
# -----------------
# ``n_solutions=5`` also returns the four next best selections.

from columnist import ColumnSelector

selector = ColumnSelector(10, centering="mean", n_solutions=5).fit(answers)
for trait, text in TRAITS.items():
    print(f"{trait:9}", *(q for q in text.split() if q in selector.get_feature_names_out()))
print(selector.certificate_)

# %%
# Every trait keeps two questions, although the selection knows nothing about traits. The runners-up
# are nearly as good. If one of them contains a question you prefer, you can use it at little cost.

best = set(selector.selected_)
for columns in selector.solutions_[1:]:
    added = ", ".join(answers.columns[sorted(set(columns) - best)])
    dropped = ", ".join(answers.columns[sorted(best - set(columns))])
    excess = 100 * (columns.error / selector.error_ - 1)
    print(f"error +{excess:.2f} %: {added} instead of {dropped}")

# %%
# What each dropped question loses
# --------------------------------
# A dropped question is predicted from the selected ones by linear regression. The bars show the
# explained variance (R²), and the groups show which selected question represents it best. Single
# answers are noisy, so even the best ten questions explain only a part of each dropped one.

RepresentativeDisplay.from_estimator(selector)
plt.show()

# %%
# If a question has to stay for other reasons, name it in ``include``. The certificate then refers
# to the selections that contain it.

required = ColumnSelector(10, centering="mean", include=["mood_swings"]).fit(answers)
excess = 100 * (required.error_ / selector.error_ - 1)
print(f"with mood_swings: error +{excess:.2f} %, {required.certificate_.status}")

# %%
# Other respondents
# -----------------
# The certificate is a statement about these 800 people. Whether the selection also works for others
# is a question for data that were not used to make it.

from columnist.metrics import reconstruction_error

others = respondents(800)
error = reconstruction_error(others, selector.selected_, centering="mean", relative=True)
print(f"unexplained variance: {selector.relative_error_:.1%} here, {error:.1%} in a new sample")

# %%
# Next steps
# ----------
# ``columnist select answers.csv -k 10 --center --report answers.html`` does the same on the command
# line and writes a shareable report (:doc:`/user_guide/report`).
# :doc:`/user_guide/certified_selection` explains the certificate.
