"""`python -m papers.spac`."""

import sys

from papers.command import main
from papers.spac.experiments import REPRODUCTION

if __name__ == "__main__":
    sys.exit(main(REPRODUCTION))
