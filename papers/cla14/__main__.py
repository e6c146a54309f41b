"""`python -m papers.cla14`."""

import sys

from papers.cla14.experiments import REPRODUCTION
from papers.command import main

if __name__ == "__main__":
    sys.exit(main(REPRODUCTION))
