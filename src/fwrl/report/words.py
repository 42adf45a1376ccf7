"""What the report says before its numbers."""

TITLE = "Floyd-Warshall Reinforcement Learning, reproduced"

INTRODUCTION = (
    "Every experiment of Dhiman, Banerjee, Siskind and Corso (2018), run with many seeds where the paper had one. "
    "FWRL is run as Algorithm 1 of the paper to the letter, with the exact fixed point of its triangle inequality "
    "beside it. A comparison counts where its 95 % bootstrap interval over seeds excludes a tie; a claim holds if all "
    "its comparisons come out as claimed, and in part if some do."
)
