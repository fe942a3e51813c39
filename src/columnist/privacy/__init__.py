"""Remove from features what a predictor does not need, so that they tell less about the rest."""

from columnist.privacy.adversary import AttackResult, attack
from columnist.privacy.cleaner import NullSpaceCleaner
from columnist.privacy.metrics import linear_privacy, privacy_error, utility_error
from columnist.privacy.noise import laplace_noise
from columnist.privacy.report import PrivacyReport

__all__ = [
    "AttackResult",
    "NullSpaceCleaner",
    "PrivacyReport",
    "attack",
    "laplace_noise",
    "linear_privacy",
    "privacy_error",
    "utility_error",
]
